#include <cinttypes>
#include <set>

#include <tessera/sampling.hpp>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/inspect_text.hpp"
#include "transcript/shown_bits.hpp"

namespace tessera::cli {
namespace {

constexpr std::size_t most_text = 2000;  // bytes; the file has it whole

double seconds_of(const ProofArchive& proof, std::string_view scope) {
  const auto found = std::ranges::find(proof.timings, scope, &ScopeTiming::scope);
  return found == proof.timings.end() ? 0 : found->seconds;
}

void add_timings(Text& text, const ProofArchive& proof) {
  text.add("time          %.4f s, plain inference %.4f s of it\n", seconds_of(proof, "/"),
           seconds_of(proof, "/inference"));
  text.add("memory        %s\n", printable(proof.memory_measure).c_str());
  text.add("\n%12s %10s  scope\n", "seconds", "peak MiB");
  for (const ScopeTiming& timing : proof.timings) {
    text.add("%12.4f %10.1f  %s\n", timing.seconds, static_cast<double>(timing.peak_memory) / mebibyte,
             printable(timing.scope).c_str());
  }
}

/// Each rank's own measures of the whole run.
void add_ranks(Text& text, const ProofArchive& proof) {
  const auto whole = std::ranges::find(proof.timings, "/", &ScopeTiming::scope) - proof.timings.begin();
  if (proof.ranks.empty() || whole == std::ssize(proof.timings)) {
    return;
  }
  const auto at = static_cast<std::size_t>(whole);
  text.add("\n%12s %10s  rank\n", "seconds", "peak MiB");
  for (std::size_t i = 0; i < proof.ranks.size(); ++i) {
    const RankInfo& rank = proof.ranks[i];
    text.add("%12.4f %10.1f  %zu, %s\n", rank.seconds[at], static_cast<double>(rank.peak_memory[at]) / mebibyte, i,
             printable(rank.processor, most_text).c_str());
  }
}

void add_communication(Text& text, const ProofArchive& proof) {
  if (proof.communication.empty()) {
    return;
  }
  text.add("\n%12s %14s %14s  scope: communication, bytes sent by all ranks and by the one that sends most\n", "calls",
           "bytes", "most");
  for (const ScopeTraffic& traffic : proof.communication) {
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : traffic.sent) {
      sum += bytes;
    }
    const std::uint64_t most = traffic.sent.empty() ? 0 : *std::ranges::max_element(traffic.sent);
    text.add("%12" PRIu64 " %14" PRIu64 " %14" PRIu64 "  %s\n", traffic.calls, sum, most,
             printable(traffic.scope).c_str());
  }
}

constexpr std::size_t most_ranks = 64;  // whose shares are listed; the file has all

/// Ranks and what they had.
void add_ownership(Text& text, const ProofArchive& proof) {
  if (proof.hosts.empty()) {
    return;
  }
  const std::set<std::string> nodes(proof.hosts.begin(), proof.hosts.end());
  text.add("\nranks         %zu on %s\n", proof.hosts.size(), counted(nodes.size(), "machine").c_str());
  for (const OwnedDimension& dimension : proof.ownership) {
    text.add("%s: %" PRIu64 " by %" PRIu64 "%s%s\n", printable(dimension.name).c_str(), dimension.length,
             dimension.chunk, dimension.tensors.empty() ? "" : ", of ",
             printable(dimension.tensors, most_text).c_str());
  }
  text.add("\nrank, machine: first entry of each of these\n");
  for (std::size_t rank = 0; rank < std::min(proof.hosts.size(), most_ranks); ++rank) {
    text.add("%6zu  %-20s", rank, printable(proof.hosts[rank], most_text).c_str());
    for (const OwnedDimension& dimension : proof.ownership) {
      text.add(" %" PRIu64 "..%" PRIu64, dimension.first[rank], dimension.first[rank + 1]);
    }
    text.add("\n");
  }
}

/// Indented lines joined.
std::string joined(const std::string& text) {
  std::string line;
  bool indentation = false;
  for (const char c : text) {
    indentation = c == '\n' || (indentation && c == ' ');
    if (!indentation) {
      line += c;
    } else if (c == '\n') {
      line += ' ';
    }
  }
  return line;
}

/// Long lists, as those of --tokens, by their beginning and how many there are.
std::string shortened(const std::string& json) {
  constexpr std::size_t shown = 3;
  std::string result, list;
  std::size_t entries = 0;
  bool inside = false, quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    quoted = quoted != (c == '"');
    inside = inside || (c == '[' && !quoted);
    std::string& to = inside && entries >= shown ? list : result;
    to += c;
    if (c == '\\' && i + 1 < json.size()) {
      to += json[++i];
    }
    entries += inside && !quoted && c == ',' ? 1 : 0;
    if (c == ']' && !quoted) {
      result += entries <= shown ? list : list.empty() ? "" : " ... " + std::to_string(entries + 1) + " in all ]";
      list.clear();
      entries = 0;
      inside = false;
    }
  }
  return result + list;
}

}  // namespace

void add_proof(Text& text, const ProofArchive& proof) {
  text.add("text          %s\n", printable(proof.text, most_text).c_str());
  text.add("tokens        %zu prompt, %zu generated\n", proof.statement.prompt.size(),
           proof.statement.generated.size());
  if (proof.statement.start) {
    text.add("continues     a state of %" PRIu64 " positions, then token %u, root %s\n", proof.statement.start->length,
             proof.statement.start->last_token, to_hex(proof.statement.start->root).c_str());
  }
  text.add("keeps a state %s\n", proof.statement.keeps ? "yes" : "no");
  if (const auto& sampling = proof.statement.sampling) {
    text.add("sampled       %s, seed %s\n", sampling_text(*sampling).c_str(), to_hex(sampling->seed).c_str());
  }
  if (proof.statement.pass_length != 0) {
    text.add("passes        of %" PRIu32 " rows\n", proof.statement.pass_length);
  }
  text.add("payload       %zu bytes (%.3f MiB), digest %s\n", proof.payload.size(),
           static_cast<double>(proof.payload.size()) / mebibyte, to_hex(blake2s(proof.payload)).c_str());
  text.add("key digest    %s\n", to_hex(proof.key_digest).c_str());
  if (proof.timings.empty()) {
    text.add("computed by   not said, as proofs under hiding keys do\n");
  } else {
    text.add("computed by   %s of %s, at most %.1f MiB a rank\n", counted(proof.machine.ranks, "rank").c_str(),
             counted(proof.machine.threads, "thread").c_str(),
             static_cast<double>(proof.machine.peak_memory) / mebibyte);
    text.add("configuration %s\n", one_line(shortened(joined(proof.configuration)), most_text).c_str());
    add_timings(text, proof);
  }
  add_ranks(text, proof);
  add_communication(text, proof);
  add_ownership(text, proof);
  text.add("\n%12s  round\n", "bits");
  for (const SoundnessEntry& entry : proof.soundness.entries) {
    text.add("%12.1f  %s: %s\n", shown_bits(entry.bits), printable(entry.scope).c_str(),
             printable(entry.reason).c_str());
  }
  if (!proof.soundness.entries.empty()) {
    text.add("%12.1f  least (round by round)\n%12.1f  sum of all errors\n",
             shown_bits(proof.soundness.round_by_round_bits()), shown_bits(proof.soundness.union_bits()));
  }
}

}  // namespace tessera::cli
