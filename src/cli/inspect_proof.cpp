#include <cinttypes>
#include <numeric>
#include <set>

#include <tessera/sampling.hpp>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/inspect_file.hpp"
#include "cli/ownership_json.hpp"
#include "cli/sampling_json.hpp"
#include "transcript/shown_bits.hpp"

namespace tessera::cli {
namespace {

constexpr std::size_t most_text = 2000;  // bytes; the file has it whole

double seconds_of(const ProofArchive& proof, std::string_view scope) {
  const auto found = std::ranges::find(proof.timings, scope, &ScopeTiming::scope);
  return found == proof.timings.end() ? 0 : found->seconds;
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

/// How the proof was made; proofs under hiding keys say nothing of it.
void describe_machine(Description& description, const ProofArchive& proof) {
  const auto& [ranks, threads, peak_memory] = proof.machine;
  description.field("machine", Json{{"ranks", ranks}, {"threads", threads}, {"peak_memory", peak_memory}});
  description.field("configuration", proof.configuration);  // text: a stranger's may be no JSON, or too deep
  description.field("memory_measure", proof.memory_measure);
  if (proof.timings.empty()) {
    description.say("computed by   not said, as proofs under hiding keys do\n");
    return;
  }
  description.say("computed by   %s of %s, at most %.1f MiB a rank\n", counted(ranks, "rank").c_str(),
                  counted(threads, "thread").c_str(), static_cast<double>(peak_memory) / mebibyte);
  description.say("configuration %s\n", one_line(shortened(joined(proof.configuration)), most_text).c_str());
  description.say("time          %.4f s, plain inference %.4f s of it\n", seconds_of(proof, "/"),
                  seconds_of(proof, "/inference"));
  description.say("memory        %s\n", printable(proof.memory_measure).c_str());
}

void describe_timings(Description& description, const ProofArchive& proof) {
  if (!proof.timings.empty()) {
    description.say("\n%12s %10s  scope\n", "seconds", "peak MiB");
  }
  description.list("timings", proof.timings, [&](const ScopeTiming& timing) -> Json {
    description.say("%12.4f %10.1f  %s\n", timing.seconds, static_cast<double>(timing.peak_memory) / mebibyte,
                    printable(timing.scope).c_str());
    return {{"scope", timing.scope}, {"seconds", timing.seconds}, {"peak_memory", timing.peak_memory}};
  });
}

/// Each rank's own measures; for people those of the whole run.
void describe_ranks(Description& description, const ProofArchive& proof) {
  const auto whole = std::ranges::find(proof.timings, "/", &ScopeTiming::scope);
  const auto at = static_cast<std::size_t>(whole - proof.timings.begin());
  const bool shown = !proof.ranks.empty() && whole != proof.timings.end();
  if (shown) {
    description.say("\n%12s %10s  rank\n", "seconds", "peak MiB");
  }
  description.list("ranks", proof.ranks, [&, number = std::size_t{0}](const RankInfo& rank) mutable -> Json {
    if (shown) {
      description.say("%12.4f %10.1f  %zu, %s\n", rank.seconds[at],
                      static_cast<double>(rank.peak_memory[at]) / mebibyte, number++,
                      printable(rank.processor, most_text).c_str());
    }
    return {{"processor", rank.processor}, {"seconds", rank.seconds}, {"peak_memory", rank.peak_memory}};
  });
}

void describe_communication(Description& description, const ProofArchive& proof) {
  if (!proof.communication.empty()) {
    description.say("\n%12s %14s %14s  scope: communication, bytes sent by all ranks and by the one that sends most\n",
                    "calls", "bytes", "most");
  }
  description.list("communication", proof.communication, [&](const ScopeTraffic& traffic) -> Json {
    const auto& sent = traffic.sent;
    description.say("%12" PRIu64 " %14" PRIu64 " %14" PRIu64 "  %s\n", traffic.calls,
                    std::accumulate(sent.begin(), sent.end(), std::uint64_t{0}),
                    sent.empty() ? 0 : *std::ranges::max_element(sent), printable(traffic.scope).c_str());
    return {{"scope", traffic.scope}, {"calls", traffic.calls}, {"sent", sent}, {"received", traffic.received}};
  });
}

constexpr std::size_t most_ranks = 64;  // whose shares are listed; the file has all

/// Ranks and what they had.
void describe_ownership(Description& description, const ProofArchive& proof) {
  description.field("hosts", proof.hosts).field("ownership", ownership_json(proof.ownership));
  if (proof.hosts.empty()) {
    return;
  }
  const std::set<std::string> nodes(proof.hosts.begin(), proof.hosts.end());
  description.say("\nranks         %zu on %s\n", proof.hosts.size(), counted(nodes.size(), "machine").c_str());
  for (const OwnedDimension& dimension : proof.ownership) {
    description.say("%s: %" PRIu64 " by %" PRIu64 "%s%s\n", printable(dimension.name).c_str(), dimension.length,
                    dimension.chunk, dimension.tensors.empty() ? "" : ", of ",
                    printable(dimension.tensors, most_text).c_str());
  }
  description.say("\nrank, machine: first entry of each of these\n");
  for (std::size_t rank = 0; rank < std::min(proof.hosts.size(), most_ranks); ++rank) {
    description.say("%6zu  %-20s", rank, printable(proof.hosts[rank], most_text).c_str());
    for (const OwnedDimension& dimension : proof.ownership) {
      description.say(" %" PRIu64 "..%" PRIu64, dimension.first[rank], dimension.first[rank + 1]);
    }
    description.say("\n");
  }
}

void describe_statement(Description& description, const Statement& statement) {
  description.field("prompt", statement.prompt).field("generated", statement.generated);
  description.say("tokens        %zu prompt, %zu generated\n", statement.prompt.size(), statement.generated.size());
  Json continues;
  if (const auto& start = statement.start) {
    const std::string root = to_hex(start->root);
    continues = {{"positions", start->length}, {"last_token", start->last_token}, {"root", root}};
    description.say("continues     a state of %" PRIu64 " positions, then token %u, root %s\n", start->length,
                    start->last_token, root.c_str());
  }
  description.field("continues", continues).field("keeps_state", statement.keeps);
  description.say("keeps a state %s\n", statement.keeps ? "yes" : "no");
  description.field("sampling", sampling_json(statement.sampling));
  if (const auto& sampling = statement.sampling) {
    description.say("sampled       %s, seed %s\n", sampling_text(*sampling).c_str(), to_hex(sampling->seed).c_str());
  }
  description.field("pass_length", statement.pass_length == 0 ? Json() : Json(statement.pass_length));
  if (statement.pass_length != 0) {
    description.say("passes        of %" PRIu32 " rows\n", statement.pass_length);
  }
}

void describe_soundness(Description& description, const SoundnessReport& soundness) {
  description.say("\n%12s  round\n", "bits");
  description.list("rounds", soundness.entries, [&](const SoundnessEntry& entry) -> Json {
    description.say("%12.1f  %s: %s\n", shown_bits(entry.bits), printable(entry.scope).c_str(),
                    printable(entry.reason).c_str());
    return {{"scope", entry.scope}, {"reason", entry.reason}, {"bits", entry.bits}};
  });
  Json bits;
  if (!soundness.entries.empty()) {
    const double least = soundness.round_by_round_bits(), sum = soundness.union_bits();
    bits = {{"least", least}, {"sum", sum}};
    description.say("%12.1f  least (round by round)\n%12.1f  sum of all errors\n", shown_bits(least), shown_bits(sum));
  }
  description.field("soundness", bits);
}

}  // namespace

void describe_proof(Description& description, const ProofArchive& proof) {
  description.field("text", proof.text).say("text          %s\n", printable(proof.text, most_text).c_str());
  describe_statement(description, proof.statement);
  const std::string digest = to_hex(blake2s(proof.payload)), key = to_hex(proof.key_digest);
  description.field("payload", Json{{"bytes", proof.payload.size()}, {"digest", digest}}).field("key_digest", key);
  description.say("payload       %zu bytes (%.3f MiB), digest %s\nkey digest    %s\n", proof.payload.size(),
                  static_cast<double>(proof.payload.size()) / mebibyte, digest.c_str(), key.c_str());
  describe_machine(description, proof);
  describe_timings(description, proof);
  describe_ranks(description, proof);
  describe_communication(description, proof);
  describe_ownership(description, proof);
  describe_soundness(description, proof.soundness);
}

}  // namespace tessera::cli
