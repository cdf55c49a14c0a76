#include "archive/isolated_archive.hpp"

#include "archive/isolated.hpp"
#include "archive/naming.hpp"
#include "archive/plain_bytes.hpp"
#include "datasets/image_file.hpp"

namespace tessera {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Seconds = std::vector<double>;
using Sizes = std::vector<std::uint64_t>;

template <class T>
void append_number(Bytes& bytes, T value) {
  append_bytes(bytes, &value, sizeof value);
}

/// How many entries follow; each takes more than a byte.
std::uint64_t take_count(Taker& taker) {
  const auto count = taker.number<std::uint64_t>();
  if (count > taker.rest().size()) {
    throw InputError("expected " + std::to_string(count) + " entries, found fewer bytes");
  }
  return count;
}

void append_information(Bytes& bytes, const ProofArchive& proof) {
  append_list(bytes, proof.text);
  append_list(bytes, proof.configuration);
  append_number<std::uint64_t>(bytes, proof.soundness.entries.size());
  for (const SoundnessEntry& entry : proof.soundness.entries) {
    append_list(bytes, entry.scope);
    append_list(bytes, entry.reason);
    append_number(bytes, entry.bits);
  }
  append_number<std::uint64_t>(bytes, proof.timings.size());
  for (const ScopeTiming& timing : proof.timings) {
    append_list(bytes, timing.scope);
    append_number(bytes, timing.seconds);
    append_number(bytes, timing.peak_memory);
  }
  append_list(bytes, proof.memory_measure);
  append_number(bytes, proof.machine.ranks);
  append_number(bytes, proof.machine.threads);
  append_number(bytes, proof.machine.peak_memory);
  append_number<std::uint64_t>(bytes, proof.ranks.size());
  for (const RankInfo& rank : proof.ranks) {
    append_list(bytes, rank.processor);
    append_list(bytes, rank.seconds);
    append_list(bytes, rank.peak_memory);
  }
}

RankInfo take_rank(Taker& taker, std::size_t scopes) {
  auto processor = taker.list<std::string>();
  auto seconds = taker.list<Seconds>();
  auto peak_memory = taker.list<Sizes>();
  if (seconds.size() != scopes || peak_memory.size() != scopes) {
    throw InputError("ranks: expected measures of " + std::to_string(scopes) + " scopes, found " +
                     std::to_string(seconds.size()) + " and " + std::to_string(peak_memory.size()));
  }
  return {std::move(processor), std::move(seconds), std::move(peak_memory)};
}

void take_information(Taker& taker, ProofArchive& proof) {
  proof.text = taker.list<std::string>();
  proof.configuration = taker.list<std::string>();
  for (std::uint64_t left = take_count(taker); left > 0; --left) {
    auto scope = taker.list<std::string>();
    auto reason = taker.list<std::string>();
    proof.soundness.entries.push_back({std::move(scope), std::move(reason), taker.number<double>()});
  }
  for (std::uint64_t left = take_count(taker); left > 0; --left) {
    auto scope = taker.list<std::string>();
    const auto seconds = taker.number<double>();
    proof.timings.push_back({std::move(scope), seconds, taker.number<std::uint64_t>()});
  }
  proof.memory_measure = taker.list<std::string>();
  proof.machine.ranks = taker.number<std::uint32_t>();
  proof.machine.threads = taker.number<std::uint32_t>();
  proof.machine.peak_memory = taker.number<std::uint64_t>();
  for (std::uint64_t left = take_count(taker); left > 0; --left) {
    proof.ranks.push_back(take_rank(taker, proof.timings.size()));
  }
}

}  // namespace

Bytes encode_archive(const ProofArchive& proof) {
  Bytes bytes;
  append_list(bytes, encode_proof({proof.statement, proof.payload, proof.key_digest}));
  append_information(bytes, proof);
  return bytes;
}

ProofArchive decode_archive(std::span<const std::uint8_t> bytes) {
  Taker taker(bytes);
  StoredProof stored = decode_proof(taker.list<Bytes>());
  ProofArchive proof;
  proof.statement = std::move(stored.statement);
  proof.payload = std::move(stored.payload);
  proof.key_digest = stored.key_digest;
  take_information(taker, proof);
  taker.finish();
  return proof;
}

namespace {

ImageReader archive_reader(const std::filesystem::path& name) {
  return [name](std::span<const std::uint8_t> image) {
    return encode_archive(read_proof(ImageFile(name.string(), image, proof_format, max_proof_file_bytes)));
  };
}

}  // namespace

ProofArchive load_archive_isolated(const std::filesystem::path& path) {
  return naming(path, [&] { return decode_archive(read_isolated(path, archive_reader(path))); });
}

ProofArchive load_archive_isolated(const std::filesystem::path& name, std::span<const std::uint8_t> image) {
  return naming(name, [&] { return decode_archive(read_isolated(name, image, archive_reader(name))); });
}

}  // namespace tessera
