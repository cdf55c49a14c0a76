#include "archive/checkpoint_file.hpp"

#include <boost/serialization/array.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "files/staged_file.hpp"
#include "cluster/agreement.hpp"
#include "cluster/serialization.hpp"

namespace boost::serialization {

template <class Archive>
void serialize(Archive& archive, tessera::ProofCheckpoint& checkpoint, unsigned /*version*/) {
  archive& checkpoint.generated& checkpoint.witness_nodes& checkpoint.kept_nodes& checkpoint.lookups& checkpoint.layers;
}

}  // namespace boost::serialization

namespace tessera {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

constexpr std::string_view head = "tessera checkpoint 1\n";  // then the digest of the rest: the job's, the content
constexpr std::array phases{ProofPhase::inference, ProofPhase::commitment, ProofPhase::lookups, ProofPhase::layers};
constexpr std::array phase_names{"inference", "commitment", "lookups", "layers"};

std::string name_of(ProofPhase phase) { return phase_names.at(static_cast<std::size_t>(phase)); }
fs::path file_of(const fs::path& directory, ProofPhase phase) { return directory / (name_of(phase) + ".checkpoint"); }

/// What is `phase`'s own.
ProofCheckpoint part_of(ProofPhase phase, const ProofCheckpoint& all) {
  switch (phase) {
    case ProofPhase::inference:
      return {all.generated, {}, {}, {}, {}};
    case ProofPhase::commitment:
      return {{}, all.witness_nodes, all.kept_nodes, {}, {}};
    case ProofPhase::lookups:
      return {{}, {}, {}, all.lookups, {}};
    case ProofPhase::layers:
      break;
  }
  return {{}, {}, {}, {}, all.layers};
}

void add(ProofCheckpoint& all, ProofPhase phase, ProofCheckpoint&& part) {
  switch (phase) {
    case ProofPhase::inference:
      all.generated = std::move(part.generated);
      return;
    case ProofPhase::commitment:
      all.witness_nodes = std::move(part.witness_nodes);
      all.kept_nodes = std::move(part.kept_nodes);
      return;
    case ProofPhase::lookups:
      all.lookups = std::move(part.lookups);
      return;
    case ProofPhase::layers:
      all.layers = std::move(part.layers);
  }
}

Bytes encode(const Digest& job, const ProofCheckpoint& part) {
  std::ostringstream stream;
  boost::archive::binary_oarchive(stream) << part;
  const std::string content = std::move(stream).str();
  Bytes rest(job.begin(), job.end());
  rest.insert(rest.end(), content.begin(), content.end());
  const Digest digest = blake2s(rest);
  Bytes bytes(head.begin(), head.end());
  bytes.insert(bytes.end(), digest.begin(), digest.end());
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return bytes;
}

/// Nothing if the bytes are damaged. Throws InputError for another job's.
std::optional<ProofCheckpoint> decode(const fs::path& path, const Digest& job, std::span<const std::uint8_t> bytes) {
  constexpr std::size_t before = head.size() + sizeof(Digest);
  const auto digest = bytes.size() < before + sizeof(Digest) ? bytes : bytes.subspan(head.size(), sizeof(Digest));
  if (digest.size() != sizeof(Digest) || !std::ranges::equal(bytes.first(head.size()), head) ||
      !std::ranges::equal(digest, blake2s(bytes.subspan(before)))) {
    return std::nullopt;
  }
  const auto rest = bytes.subspan(before);
  if (!std::ranges::equal(rest.first(sizeof(Digest)), job)) {
    throw InputError(path.string() + ": expected a checkpoint of this key and statement, found another's");
  }
  std::istringstream stream(std::string(rest.begin() + sizeof(Digest), rest.end()));
  ProofCheckpoint part;
  try {
    boost::archive::binary_iarchive(stream) >> part;
  } catch (const boost::archive::archive_exception&) {  // of another version of the library
    return std::nullopt;
  }
  return part;
}

}  // namespace

CheckpointDirectory::CheckpointDirectory(const fs::path& directory, const Digest& job,
                                         std::chrono::duration<double> every, Communicator& comm)
    : directory_(through_links(directory)), job_(job), every_(every), comm_(comm) {
  fail_together(comm_, [&] {
    if (comm_.rank() != 0) {
      return;
    }
    std::error_code error;
    fs::create_directories(directory_, error);
    if (error) {
      throw InputError(directory_.string() + ": cannot be written: " + error.message());
    }
    for (const ProofPhase phase : phases) {
      const StagedFile writable(file_of(directory_, phase));  // what cannot be written is better found now
    }
  });
}

ProofCheckpoint CheckpointDirectory::load() {
  ProofCheckpoint checkpoint;
  fail_together(comm_, [&] {
    if (comm_.rank() == 0) {
      checkpoint = load_files();
    }
  });
  broadcast_object(comm_, checkpoint);
  return checkpoint;
}

ProofCheckpoint CheckpointDirectory::load_files() {
  ProofCheckpoint all;
  for (const ProofPhase phase : phases) {
    const fs::path path = file_of(directory_, phase);
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
      continue;
    }
    const Bytes bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    if (std::optional<ProofCheckpoint> part = decode(path, job_, bytes)) {
      add(all, phase, std::move(*part));
      notes_.push_back(name_of(phase) + " taken from " + directory_.string());
    } else {
      notes_.push_back(path.string() + " is damaged: " + name_of(phase) + " is done again");
    }
  }
  return all;
}

std::vector<std::string> CheckpointDirectory::take_notes() { return std::exchange(notes_, {}); }

void CheckpointDirectory::save(ProofPhase phase, const ProofCheckpoint& checkpoint) {
  if (comm_.rank() != 0) {
    return;
  }
  waiting_[phase] = encode(job_, part_of(phase, checkpoint));
  if (Clock::now() - written_ >= every_) {
    write_waiting();
  }
}

void CheckpointDirectory::save_unfinished(const ProofCheckpoint& checkpoint) {
  if (comm_.rank() == 0 && every_.count() > 0 && Clock::now() - written_ >= every_) {
    save(ProofPhase::inference, checkpoint);
  }
}

void CheckpointDirectory::write_waiting() {
  for (const auto& [phase, bytes] : waiting_) {
    try {
      write_file(file_of(directory_, phase), bytes);
    } catch (const std::exception& error) {  // the job itself can go on
      notes_.push_back(std::string("no checkpoint of ") + name_of(phase) + ": " + error.what());
    }
  }
  waiting_.clear();
  written_ = Clock::now();
}

void CheckpointDirectory::clear(const fs::path& directory) noexcept {
  for (const ProofPhase phase : phases) {
    std::error_code ignored;
    fs::remove(file_of(directory, phase), ignored);
  }
}

}  // namespace tessera
