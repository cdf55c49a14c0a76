#include "archive/hdf5.hpp"
#include "archive/proof_file.hpp"

namespace tessera {
namespace {

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

/// Lists of one for each rank, row after row.
std::vector<std::uint64_t> rows_of(const auto& entries, auto list) {
  std::vector<std::uint64_t> rows;
  for (const auto& entry : entries) {
    const std::vector<std::uint64_t>& row = entry.*list;
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}
void save_communication(WriteFile& file, const ProofArchive& proof) {
  std::vector<std::string> scopes;
  std::vector<std::uint64_t> calls;
  for (const ScopeTraffic& traffic : proof.communication) {
    scopes.push_back(traffic.scope);
    calls.push_back(traffic.calls);
  }
  const Extents extents{scopes.size(), proof.machine.ranks};
  file.write_texts("information/communication/scope", scopes);
  file.write("information/communication/calls", calls);
  file.write<std::uint64_t>("information/communication/sent", rows_of(proof.communication, &ScopeTraffic::sent),
                            extents);
  file.write<std::uint64_t>("information/communication/received", rows_of(proof.communication, &ScopeTraffic::received),
                            extents);
}

void save_ownership(WriteFile& file, const ProofArchive& proof) {
  std::vector<std::string> names, tensors;
  std::vector<std::uint64_t> lengths, chunks;
  for (const OwnedDimension& dimension : proof.ownership) {
    names.push_back(dimension.name);
    tensors.push_back(dimension.tensors);
    lengths.push_back(dimension.length);
    chunks.push_back(dimension.chunk);
  }
  file.write_texts("information/ownership/name", names);
  file.write_texts("information/ownership/tensors", tensors);
  file.write("information/ownership/length", lengths);
  file.write("information/ownership/chunk", chunks);
  file.write<std::uint64_t>("information/ownership/first", rows_of(proof.ownership, &OwnedDimension::first),
                            {names.size(), std::uint64_t{proof.machine.ranks} + 1});
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
  if (const auto& sampling = proof.statement.sampling) {
    file.write("statement/sampling/seed", std::span<const std::uint8_t>(sampling->seed), {sampling->seed.size()});
    file.write_scalar("statement/sampling/inverse_temperature", sampling->inverse_temperature);
    file.write_scalar("statement/sampling/top_k", sampling->top_k);
    file.write_scalar("statement/sampling/top_p", sampling->top_p);
    file.write_scalar("statement/sampling/cutoff", sampling->cutoff);
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
  if (!proof.hosts.empty()) {
    file.write_texts("information/machine/host", proof.hosts);
    save_communication(file, proof);
    save_ownership(file, proof);
  }
  return file.commit();
}

ProofArchive load_proof(const std::filesystem::path& path) {
  return read_proof(ReadFile(path, proof_format, max_proof_file_bytes));
}

}  // namespace tessera
