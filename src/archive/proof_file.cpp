#include <algorithm>
#include "archive/hdf5.hpp"
#include "archive/proof_file.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t max_information = std::uint64_t{1} << 22;  // bytes of any one informational dataset
constexpr std::uint64_t max_scopes = 1 << 14;
constexpr std::uint64_t max_ranks = 1 << 14;
constexpr std::uint64_t max_file_bytes = 2 * max_payload_bytes;

bool measures_fit(std::uint64_t ranks, std::uint64_t scopes) {
  return ranks <= max_ranks && ranks * scopes * sizeof(double) <= max_information;
}

void write_ranks(WriteFile& file, const ProofArchive& proof) {
  const Extents extents{proof.ranks.size(), proof.timings.size()};
  if (proof.ranks.empty() || !measures_fit(extents[0], extents[1])) {
    return;
  }
  std::vector<std::string> processors;
  std::vector<double> seconds;
  std::vector<std::uint64_t> peaks;
  for (const RankInfo& rank : proof.ranks) {
    processors.push_back(rank.processor);
    seconds.insert(seconds.end(), rank.seconds.begin(), rank.seconds.end());
    peaks.insert(peaks.end(), rank.peak_memory.begin(), rank.peak_memory.end());
  }
  file.write_texts("information/ranks/processor", processors);
  file.write("information/ranks/seconds", std::span<const double>(seconds), extents);
  file.write("information/ranks/peak_memory", std::span<const std::uint64_t>(peaks), extents);
}

std::vector<RankInfo> read_ranks(const ReadFile& file, std::uint64_t scopes) {
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

}  // namespace

Digest save_proof(const std::filesystem::path& path, const ProofArchive& proof) {
  std::vector<std::string> scopes, reasons, timed;
  std::vector<double> bits, seconds;
  std::vector<std::uint64_t> peaks;
  for (const SoundnessEntry& entry : proof.soundness.entries) {
    scopes.push_back(entry.scope);
    reasons.push_back(entry.reason);
    bits.push_back(entry.bits);
  }
  for (const ScopeTiming& timing : proof.timings) {
    timed.push_back(timing.scope);
    seconds.push_back(timing.seconds);
    peaks.push_back(timing.peak_memory);
  }
  WriteFile file(path, proof_format);
  file.write("payload", proof.payload);
  file.write("statement/prompt", proof.statement.prompt);
  file.write("statement/generated", proof.statement.generated);
  if (const auto& start = proof.statement.start) {
    file.write("statement/start/root", std::span<const std::uint8_t>(start->root), {start->root.size()});
    file.write_scalar("statement/start/length", start->length);
    file.write_scalar("statement/start/last_token", start->last_token);
  }
  if (proof.statement.keeps) {
    file.write_scalar<std::uint8_t>("statement/keeps", 1);
  }
  if (proof.statement.pass_length != 0) {
    file.write_scalar("statement/pass_length", proof.statement.pass_length);
  }
  file.write("key_digest", std::span<const std::uint8_t>(proof.key_digest), {proof.key_digest.size()});
  file.write("information/text", std::vector<std::uint8_t>(proof.text.begin(), proof.text.end()));
  file.write_text("information/configuration", proof.configuration);
  file.write_texts("information/soundness/scope", scopes);
  file.write_texts("information/soundness/reason", reasons);
  file.write("information/soundness/bits", bits);
  file.write_texts("information/timings/scope", timed);
  file.write("information/timings/seconds", seconds);
  file.write("information/timings/peak_memory", peaks);
  file.write_text("information/timings/memory_measure", proof.memory_measure);
  file.write_scalar("information/machine/ranks", proof.machine.ranks);
  file.write_scalar("information/machine/threads", proof.machine.threads);
  file.write_scalar("information/machine/peak_memory", proof.machine.peak_memory);
  write_ranks(file, proof);
  return file.commit();
}

ProofArchive load_proof(const std::filesystem::path& path) {
  const ReadFile file(path, proof_format, max_file_bytes);
  ProofArchive proof;
  proof.payload = file.read_list<std::uint8_t>("payload", max_payload_bytes);
  proof.statement.prompt = file.read_list<std::uint32_t>("statement/prompt", max_positions);
  proof.statement.generated = file.read_list<std::uint32_t>("statement/generated", max_positions);
  if (file.contains("statement/start/root")) {
    ConversationState& start = proof.statement.start.emplace();
    std::ranges::copy(file.read<std::uint8_t>("statement/start/root", {start.root.size()}), start.root.begin());
    start.length = file.read_scalar<std::uint64_t>("statement/start/length");
    start.last_token = file.read_scalar<std::uint32_t>("statement/start/last_token");
  }
  if (file.contains("statement/keeps")) {
    const auto keeps = file.read_scalar<std::uint8_t>("statement/keeps");
    if (keeps != 1) {
      file.fail("statement/keeps", "1 or nothing", std::to_string(keeps));
    }
    proof.statement.keeps = true;
  }
  if (file.contains("statement/pass_length")) {
    proof.statement.pass_length = file.read_scalar<std::uint32_t>("statement/pass_length");
    if (!is_pass_length(proof.statement.pass_length)) {
      file.fail("statement/pass_length", std::string(pass_length_text) + ", or nothing",
                std::to_string(proof.statement.pass_length));
    }
  }
  std::ranges::copy(file.read<std::uint8_t>("key_digest", {proof.key_digest.size()}), proof.key_digest.begin());
  const std::vector<std::uint8_t> text = file.read_list<std::uint8_t>("information/text", max_information);
  proof.text.assign(text.begin(), text.end());
  proof.configuration = file.read_text("information/configuration", max_information);
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
  std::vector<std::string> timed = file.read_texts("information/timings/scope", max_scopes, max_information);
  const std::vector<double> seconds = file.read<double>("information/timings/seconds", {timed.size()});
  const std::vector<std::uint64_t> peaks = file.read<std::uint64_t>("information/timings/peak_memory", {timed.size()});
  proof.memory_measure = file.read_text("information/timings/memory_measure", max_information);
  for (std::size_t i = 0; i < timed.size(); ++i) {
    proof.timings.push_back({std::move(timed[i]), seconds[i], peaks[i]});
  }
  proof.machine.ranks = file.read_scalar<std::uint32_t>("information/machine/ranks");
  proof.machine.threads = file.read_scalar<std::uint32_t>("information/machine/threads");
  proof.machine.peak_memory = file.read_scalar<std::uint64_t>("information/machine/peak_memory");
  proof.ranks = read_ranks(file, proof.timings.size());
  return proof;
}

}  // namespace tessera
