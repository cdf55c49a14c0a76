#include "cli/report_read.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "archive/library_image.hpp"
#include "archive/naming.hpp"
#include "cli/inspect_file.hpp"
#include "cli/json_output.hpp"
#include "plan/limits.hpp"

namespace tessera::cli {
namespace {

using ProofBytes = std::vector<std::uint8_t>;

/// Run in the child: what inspect --json says, a NUL, and the proof.
ProofBytes encode_all(const std::string& path) {
  const ProofArchive proof = load_proof(path);  // first: of any other file it says what it is
  const std::string text = describe_file(path, true, Description::Form::json);
  ProofBytes bytes(text.begin(), text.end());
  bytes.push_back(0);
  const ProofBytes encoded = encode_proof({proof.statement, proof.payload, proof.key_digest});
  bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  return bytes;
}

/// A measure: JSON has null for what is no number.
double number(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

std::vector<double> numbers(const Json& values) {
  std::vector<double> result;
  std::ranges::transform(values, std::back_inserter(result), number);
  return result;
}

RankInfo rank_of(const Json& rank, std::size_t scopes) {
  RankInfo info{rank.at("processor"), numbers(rank.at("seconds")), rank.at("peak_memory")};
  if (info.seconds.size() != scopes || info.peak_memory.size() != scopes) {
    throw InputError("ranks: expected measures of " + std::to_string(scopes) + " scopes, found " +
                     std::to_string(info.seconds.size()) + " and " + std::to_string(info.peak_memory.size()));
  }
  return info;
}

/// Fills in what people are told, from what the child says of it.
void add_information(ProofArchive& archive, const Json& all) {
  archive.text = all.at("text");
  archive.configuration = all.at("configuration");
  archive.memory_measure = all.at("memory_measure");
  for (const Json& round : all.at("rounds")) {
    archive.soundness.entries.push_back({round.at("scope"), round.at("reason"), number(round.at("bits"))});
  }
  for (const Json& timing : all.at("timings")) {
    archive.timings.push_back({timing.at("scope"), number(timing.at("seconds")), timing.at("peak_memory")});
  }
  const Json& machine = all.at("machine");
  archive.machine = {machine.at("ranks"), machine.at("threads"), machine.at("peak_memory")};
  for (const Json& rank : all.at("ranks")) {
    archive.ranks.push_back(rank_of(rank, archive.timings.size()));
  }
}

void add_proof(ProofArchive& archive, StoredProof&& proof) {
  if (proof.statement.prompt.size() > max_positions || proof.statement.generated.size() > max_positions) {
    throw InputError("statement: expected at most " + std::to_string(max_positions) + " ids, found more");
  }
  archive.statement = std::move(proof.statement);
  archive.payload = std::move(proof.payload);
  archive.key_digest = proof.key_digest;
}

report::Part decode_all(const std::string& path, const ProofBytes& bytes) {
  const auto end = std::ranges::find(bytes, 0);
  const std::string text(bytes.begin(), end);
  if (end == bytes.end() || !is_safe_json(text)) {
    throw InputError("expected a readable file, found one that breaks the reader");
  }
  report::Part part;
  part.file = path;
  add_proof(part.archive, decode_proof({end + 1, bytes.end()}));
  try {
    const Json all = Json::parse(text);
    part.file_bytes = all.at("bytes");
    part.file_digest = all.at("digest");
    add_information(part.archive, all);
  } catch (const Json::exception& error) {
    throw InputError(std::string("expected a readable file, found ") + error.what());
  }
  return part;
}

}  // namespace

report::Part read_part(const std::string& path) {
  return naming(path,
                [&] { return decode_all(path, read_isolated_by_library(path, [&] { return encode_all(path); })); });
}

}  // namespace tessera::cli
