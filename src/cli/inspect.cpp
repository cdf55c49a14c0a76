#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <set>
#include "archive/codeword_file.hpp"
#include "archive/gathered_file.hpp"
#include "archive/hdf5.hpp"
#include "archive/hiding_uses.hpp"
#include "archive/library_image.hpp"
#include "archive/key_file.hpp"
#include "archive/model_file.hpp"
#include "archive/proof_file.hpp"
#include "archive/state_file.hpp"
#include "archive/trace_file.hpp"

#include "base/errors.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "transcript/shown_bits.hpp"
#include "cli/command.hpp"
#include "cli/inspect_json.hpp"
#include "cli/json_output.hpp"

namespace tessera::cli {
namespace {

/// Text that grows by formatted pieces.
class Text {
 public:
  __attribute__((format(printf, 2, 3))) void add(const char* format, ...) {
    std::va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int size = std::vsnprintf(nullptr, 0, format, arguments);
    va_end(arguments);
    const std::size_t end = text_.size();
    text_.resize(end + static_cast<std::size_t>(std::max(size, 0)) + 1);
    std::vsnprintf(text_.data() + end, text_.size() - end, format, again);
    va_end(again);
    text_.pop_back();  // the terminating NUL
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

constexpr std::size_t most_text = 2000;  // bytes; the file has it whole

void add_shape(Text& text, const ModelShape& shape) {
  text.add("shape         %zu layers, width %zu, %zu heads, inner %zu, vocabulary %zu, context %zu\n", shape.n_layer,
           shape.n_embd, shape.n_head, shape.n_inner, shape.n_vocab, shape.n_positions);
  if (!shape.gpt2()) {
    text.add("              %zu heads of keys and values, of %zu places%s%s%s\n", shape.kv_heads(), shape.head_size(),
             shape.tied ? "" : ", a head of its own", shape.qkv_bias ? ", biases of q, k, v" : "",
             shape.head_norm ? ", norms on q and k" : "");
  }
}

/// Exponents, and widths where a model chooses them.
void add_scales(Text& text, const ModelShape& shape, const Exponents& exponents, const Widths& widths) {
  const auto add = [&text](std::string_view name, std::int64_t value) {
    text.add(" %.*s=%" PRId64, static_cast<int>(name.size()), name.data(), value);
  };
  text.add("exponents    ");
  for_each_exponent(shape, exponents, add);
  text.add(shape.gpt2() ? "\n" : "\nwidths       ");
  for_each_width(shape, widths, add);
  text.add(shape.gpt2() ? "" : "\n");
}

void add_key(Text& text, const VerifyingKey& key) {
  add_shape(text, key.shape);
  add_scales(text, key.shape, key.exponents, key.widths);
  text.add("architecture  %s, epsilon %" PRId64 "\ntokenizer     %s, split %s, %zu tokens, %zu merges\n",
           std::string(architecture_name(key.shape.architecture)).c_str(), key.epsilon,
           std::string(name_of(key.tokenizer.model)).c_str(), std::string(name_of(key.tokenizer.split)).c_str(),
           key.tokenizer.vocabulary.size(), key.tokenizer.merges.size());
  text.add("key digest    %s\nroot          %s\noracle        2^%u rows, rate 1/%u\n", to_hex(key.digest()).c_str(),
           to_hex(key.parameter_root).c_str(), key.parameter_oracle.log_rows,
           1U << key.parameter_oracle.log_inverse_rate);
  if (key.exceptions > 0) {
    text.add("exceptions    up to %" PRIu32 " values of a proof may leave their range: they are clamped, and listed\n",
             key.exceptions);
  }
  if (key.hiding_proofs > 0) {
    text.add("hiding        yes, good for %" PRIu64 " proofs\n", key.hiding_proofs);
    if (key.exceptions > 0) {
      text.add("              but for exceptions: a proof shows where up to %" PRIu32
               " activations left their range, and by how much\n",
               key.exceptions);
    }
  }
}

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
  text.add("\nranks         %zu on %zu machines\n", proof.hosts.size(), nodes.size());
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

void add_proof(Text& text, const ProofArchive& proof) {
  text.add("text          %s\n", printable(proof.text, most_text).c_str());
  text.add("tokens        %zu prompt, %zu generated\n", proof.statement.prompt.size(),
           proof.statement.generated.size());
  if (proof.statement.start) {
    text.add("continues     a state of %" PRIu64 " positions, then token %u, root %s\n", proof.statement.start->length,
             proof.statement.start->last_token, to_hex(proof.statement.start->root).c_str());
  }
  text.add("keeps a state %s\n", proof.statement.keeps ? "yes" : "no");
  if (proof.statement.pass_length != 0) {
    text.add("passes        of %" PRIu32 " rows\n", proof.statement.pass_length);
  }
  text.add("payload       %zu bytes (%.3f MiB), digest %s\n", proof.payload.size(),
           static_cast<double>(proof.payload.size()) / mebibyte, to_hex(blake2s(proof.payload)).c_str());
  text.add("key digest    %s\n", to_hex(proof.key_digest).c_str());
  if (proof.timings.empty()) {
    text.add("computed by   not said, as proofs under hiding keys do\n");
  } else {
    text.add("computed by   %u ranks of %u threads, at most %.1f MiB a rank\n", proof.machine.ranks,
             proof.machine.threads, static_cast<double>(proof.machine.peak_memory) / mebibyte);
    text.add("configuration %s\n", one_line(joined(proof.configuration), most_text).c_str());
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

void add_origin(Text& text, const Origin& origin) {
  if (origin.format.empty()) {
    return;
  }
  text.add("origin        %s", printable(origin.format).c_str());
  for (const auto& [type, count] : origin.tensor_types) {
    text.add("%s %s %" PRIu64, type == origin.tensor_types.begin()->first ? ", tensors:" : ",", printable(type).c_str(),
             count);
  }
  text.add("\n");
  for (const Origin::File& file : origin.files) {
    text.add("              %s, %" PRIu64 " bytes, SHA-256 %s\n", quoted_name(file.name).c_str(), file.bytes,
             to_hex(file.sha256).c_str());
  }
}

void add_model(Text& text, const Model& model) {
  add_shape(text, model.shape);
  add_scales(text, model.shape, model.exponents, model.widths);
  text.add("calibration   margin %g", model.calibration.margin);
  for (const auto& [name, value] : model.calibration.maxima) {
    text.add(", %s %g", printable(name).c_str(), value);
  }
  text.add("\ntokenizer     %zu tokens, %zu merges\n", model.tokenizer.vocabulary.size(),
           model.tokenizer.merges.size());
  add_origin(text, model.origin);
}

void add_datasets(Text& text, const ReadFile& file) {
  text.add("\n%14s  %-10s %-22s dataset\n", "bytes", "type", "extents");
  for (const auto& [name, info] : file.datasets()) {
    text.add("%14" PRIu64 "  %-10s %-22s %s\n", info.bytes(), info.type.to_string().c_str(),
             to_string(info.extents).c_str(), printable(name).c_str());
  }
}

void add_gathered(Text& text, const std::vector<GatheredProof>& proofs) {
  text.add("proofs        %zu\n\n%14s  proof\n", proofs.size(), "bytes");
  for (const GatheredProof& proof : proofs) {
    text.add("%14" PRIu64 "  %s\n", proof.bytes, printable(proof.name).c_str());
  }
}

/// What a file of ours is and what is in it, in lines for a person; with `check` also whether all digests are right.
std::string describe_file(const std::string& path, bool check) {
  Text text;
  const ReadFile file(path);
  text.add("%s: %s, format version %u, %" PRIu64 " bytes\n", one_line(path).c_str(), printable(file.format()).c_str(),
           format_version, file.file_bytes());
  text.add("digest        %s\n", to_hex(file.digest()).c_str());
  if (file.format() == model_format) {
    add_model(text, load_model(path));
    text.add("parameters    %s\n", to_hex(parameters_digest(path)).c_str());
  } else if (file.format() == key_format) {
    add_key(text, load_key(path));
  } else if (file.format() == proof_format) {
    add_proof(text, load_proof(path));
  } else if (file.format() == gathered_format) {
    add_gathered(text, read_gathered(file));
  } else if (file.format() == trace_format) {
    const TraceHeader header = read_trace_header(file);
    text.add("rank          %u of %u\ntokens        %zu, prompt %" PRIu64 ", generated %" PRIu64 "\nmodel         %s\n",
             header.rank, header.ranks, header.tokens.size(), header.prompt_length, header.generated,
             to_hex(header.model).c_str());
  } else if (file.format() == state_format) {
    text.add("positions     %" PRIu64 ", then token %u\nroot          %s\nkey digest    %s\n",
             file.read_scalar<std::uint64_t>("length"), file.read_scalar<std::uint32_t>("last_token"),
             to_hex(file.read<std::uint8_t>("root", {sizeof(Digest)})).c_str(),
             to_hex(file.read<std::uint8_t>("key_digest", {sizeof(Digest)})).c_str());
  } else if (file.format() == codeword_format || file.format() == shard_format) {
    text.add("codeword      2^%u columns of 2^%u values\n", file.read_scalar<std::uint32_t>("log_columns"),
             file.read_scalar<std::uint32_t>("log_rows"));
    if (file.format() == codeword_format) {
      const std::vector<std::uint8_t> parameters = file.read<std::uint8_t>("parameters_digest", {sizeof(Digest)});
      text.add("parameters    %s\n", to_hex(parameters).c_str());
    }
  }
  add_datasets(text, file);
  if (check) {
    file.check_all();
    text.add("\nall %zu datasets agree with their digests\n", file.datasets().size());
  }
  return text.take();
}

/// What a commitment directory is good for.
void inspect_commitment(const std::filesystem::path& directory, bool json) {
  const VerifyingKey key = load_key(directory / "verifying.key");
  const bool hiding = key.hiding_proofs > 0;
  const UseCount uses = hiding ? load_uses(directory, CountedKey::of(key)) : UseCount{};
  if (json) {
    JsonDocument document;
    document.add("file", directory.string());
    document.add("format", "tessera commitment");
    document.add("key_digest", to_hex(key.digest()));
    document.add("hiding", hiding);
    if (hiding) {
      document.add("proofs", uses.proofs);
      document.add("proofs_begun", uses.used);
      document.add("proofs_left", uses.left());
    }
    std::fputs(document.finish().c_str(), stdout);
    return;
  }
  std::printf("%s: tessera commitment\nkey digest    %s\nhiding        %s\n", one_line(directory.string()).c_str(),
              to_hex(key.digest()).c_str(), hiding ? "yes" : "no");
  if (hiding) {
    std::printf("proofs        %" PRIu64 ", %" PRIu64 " begun, %" PRIu64 " left\n", uses.proofs, uses.used,
                uses.left());
  }
}

}  // namespace

void run(const InspectCommand& options, Context& /*context*/) {
  if (std::filesystem::is_directory(options.file)) {
    inspect_commitment(options.file, options.json);
    return;
  }
  const std::vector<std::uint8_t> bytes = read_isolated_by_library(
      options.file,
      [&options] {
        const std::string description =
            (options.json ? describe_file_as_json : describe_file)(options.file, options.check);
        return std::vector<std::uint8_t>(description.begin(), description.end());
      },
      IsolationLimits::for_whole(options.file));
  const std::string text(bytes.begin(), bytes.end());
  if (options.json && !is_safe_json(text)) {  // the child read a stranger's file
    throw InputError(options.file + ": expected a readable file, found one that breaks the reader");
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace tessera::cli
