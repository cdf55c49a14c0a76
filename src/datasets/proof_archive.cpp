#include "datasets/proof_archive.hpp"

#include <algorithm>

#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t max_information = std::uint64_t{1} << 22;  // bytes of any one informational dataset
constexpr std::uint64_t max_scopes = 1 << 14;
constexpr std::uint64_t max_ranks = 1 << 16;

std::vector<RankInfo> read_ranks(const DatasetFile& file, std::uint64_t scopes) {
  constexpr const char* processor = "information/ranks/processor";
  std::vector<RankInfo> ranks;
  if (!file.contains(processor)) {
    return ranks;
  }
  std::vector<std::string> processors = file.read_texts(processor, max_ranks, max_information);
  if (!measures_fit(processors.size(), scopes)) {
    file.fail(processor, "measures of at most " + std::to_string(max_information) + " bytes",
              std::to_string(processors.size()) + " ranks of " + std::to_string(scopes) + " scopes");
  }
  const Extents extents{processors.size(), scopes};
  const auto seconds = file.read<double>("information/ranks/seconds", extents);
  const auto peaks = file.read<std::uint64_t>("information/ranks/peak_memory", extents);
  for (std::size_t i = 0; i < processors.size(); ++i) {
    const auto row = [&](const auto& values) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * scopes);
      return std::vector(begin, begin + static_cast<std::ptrdiff_t>(scopes));
    };
    ranks.push_back({std::move(processors[i]), row(seconds), row(peaks)});
  }
  return ranks;
}

void set_rows(auto& entries, auto list, const std::vector<std::uint64_t>& rows) {
  auto next = rows.begin();
  const auto length = static_cast<std::ptrdiff_t>(entries.empty() ? 0 : rows.size() / entries.size());
  for (auto& entry : entries) {
    (entry.*list).assign(next, next + length);
    next += length;
  }
}

void load_communication(const DatasetFile& file, ProofArchive& proof) {
  std::vector<std::string> scopes = file.read_texts("information/communication/scope", max_scopes, max_information);
  const std::vector<std::uint64_t> calls = file.read<std::uint64_t>("information/communication/calls", {scopes.size()});
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    proof.communication.push_back({std::move(scopes[i]), calls[i], {}, {}});
  }
  const Extents extents{scopes.size(), proof.machine.ranks};
  set_rows(proof.communication, &ScopeTraffic::sent,
           file.read<std::uint64_t>("information/communication/sent", extents));
  set_rows(proof.communication, &ScopeTraffic::received,
           file.read<std::uint64_t>("information/communication/received", extents));
}

void load_ownership(const DatasetFile& file, ProofArchive& proof) {
  std::vector<std::string> names = file.read_texts("information/ownership/name", max_scopes, max_information);
  std::vector<std::string> tensors = file.read_texts("information/ownership/tensors", max_scopes, max_information);
  if (tensors.size() != names.size()) {
    file.fail("information/ownership/tensors", std::to_string(names.size()) + " entries",
              std::to_string(tensors.size()));
  }
  const std::vector<std::uint64_t> lengths = file.read<std::uint64_t>("information/ownership/length", {names.size()});
  const std::vector<std::uint64_t> chunks = file.read<std::uint64_t>("information/ownership/chunk", {names.size()});
  for (std::size_t i = 0; i < names.size(); ++i) {
    proof.ownership.push_back({std::move(names[i]), std::move(tensors[i]), lengths[i], chunks[i], {}});
  }
  set_rows(
      proof.ownership, &OwnedDimension::first,
      file.read<std::uint64_t>("information/ownership/first", {names.size(), std::uint64_t{proof.machine.ranks} + 1}));
}

Statement read_statement(const DatasetFile& file) {
  Statement statement;
  statement.prompt = file.read_list<std::uint32_t>("statement/prompt", max_positions);
  statement.generated = file.read_list<std::uint32_t>("statement/generated", max_positions);
  if (file.contains("statement/start/root")) {
    ConversationState& start = statement.start.emplace();
    std::ranges::copy(file.read<std::uint8_t>("statement/start/root", {start.root.size()}), start.root.begin());
    start.length = file.read_scalar<std::uint64_t>("statement/start/length");
    start.last_token = file.read_scalar<std::uint32_t>("statement/start/last_token");
  }
  if (file.contains("statement/keeps")) {
    const auto keeps = file.read_scalar<std::uint8_t>("statement/keeps");
    if (keeps != 1) {
      file.fail("statement/keeps", "1 or nothing", std::to_string(keeps));
    }
    statement.keeps = true;
  }
  if (file.contains("statement/pass_length")) {
    statement.pass_length = file.read_scalar<std::uint32_t>("statement/pass_length");
    if (!is_pass_length(statement.pass_length)) {
      file.fail("statement/pass_length", std::string(pass_length_text) + ", or nothing",
                std::to_string(statement.pass_length));
    }
  }
  if (file.contains("statement/sampling/seed")) {
    Sampling& sampling = statement.sampling.emplace();
    std::ranges::copy(file.read<std::uint8_t>("statement/sampling/seed", {sampling.seed.size()}),
                      sampling.seed.begin());
    sampling.inverse_temperature = file.read_scalar<std::uint32_t>("statement/sampling/inverse_temperature");
    sampling.top_k = file.read_scalar<std::uint32_t>("statement/sampling/top_k");
    sampling.top_p = file.read_scalar<std::uint32_t>("statement/sampling/top_p");
    sampling.cutoff = file.read_scalar<std::uint32_t>("statement/sampling/cutoff");
  }
  return statement;
}

void read_soundness(const DatasetFile& file, ProofArchive& proof) {
  std::vector<std::string> scopes = file.read_texts("information/soundness/scope", max_scopes, max_information);
  std::vector<std::string> reasons = file.read_texts("information/soundness/reason", max_scopes, max_information);
  const std::vector<double> bits = file.read<double>("information/soundness/bits", {scopes.size()});
  if (reasons.size() != scopes.size()) {
    file.fail("information/soundness/reason", std::to_string(scopes.size()) + " entries",
              std::to_string(reasons.size()));
  }
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    proof.soundness.entries.push_back({std::move(scopes[i]), std::move(reasons[i]), bits[i]});
  }
}

void read_timings(const DatasetFile& file, ProofArchive& proof) {
  std::vector<std::string> timed = file.read_texts("information/timings/scope", max_scopes, max_information);
  const std::vector<double> seconds = file.read<double>("information/timings/seconds", {timed.size()});
  const std::vector<std::uint64_t> peaks = file.read<std::uint64_t>("information/timings/peak_memory", {timed.size()});
  proof.memory_measure = file.read_text("information/timings/memory_measure", max_information);
  for (std::size_t i = 0; i < timed.size(); ++i) {
    proof.timings.push_back({std::move(timed[i]), seconds[i], peaks[i]});
  }
}

}  // namespace

bool measures_fit(std::uint64_t ranks, std::uint64_t scopes) {
  return ranks <= max_ranks && ranks * scopes * sizeof(double) <= max_information;
}

ProofArchive read_proof(const DatasetFile& file) {
  ProofArchive proof;
  proof.payload = file.read_list<std::uint8_t>("payload", max_payload_bytes);
  proof.statement = read_statement(file);
  std::ranges::copy(file.read<std::uint8_t>("key_digest", {proof.key_digest.size()}), proof.key_digest.begin());
  const std::vector<std::uint8_t> text = file.read_list<std::uint8_t>("information/text", max_information);
  proof.text.assign(text.begin(), text.end());
  proof.configuration = file.read_text("information/configuration", max_information);
  read_soundness(file, proof);
  read_timings(file, proof);
  proof.machine.ranks = file.read_scalar<std::uint32_t>("information/machine/ranks");
  proof.machine.threads = file.read_scalar<std::uint32_t>("information/machine/threads");
  proof.machine.peak_memory = file.read_scalar<std::uint64_t>("information/machine/peak_memory");
  if (file.contains("information/machine/host")) {
    proof.hosts = file.read_texts("information/machine/host", max_ranks, max_information);
    if (proof.hosts.size() != proof.machine.ranks) {
      file.fail("information/machine/host", std::to_string(proof.machine.ranks) + " entries",
                std::to_string(proof.hosts.size()));
    }
    load_communication(file, proof);
    load_ownership(file, proof);
  }
  proof.ranks = read_ranks(file, proof.timings.size());
  return proof;
}

}  // namespace tessera
