#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <functional>
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
#include "cli/command.hpp"
#include "cli/inspect_json.hpp"
#include "cli/inspect_text.hpp"
#include "cli/json_output.hpp"
#include "cli/verify_chat.hpp"
#include "plan/ends.hpp"

namespace tessera::cli {
namespace {

void add_shape(Text& text, const ModelShape& shape) {
  text.add("shape         %zu layers, width %zu, %zu heads, inner %zu, vocabulary %zu, context %zu\n", shape.n_layer,
           shape.n_embd, shape.n_head, shape.n_inner, shape.n_vocab, shape.n_positions);
  if (shape.rotary()) {
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
  text.add(shape.rotary() ? "\nwidths       " : "\n");
  for_each_width(shape, widths, add);
  text.add(shape.rotary() ? "\n" : "");
}

/// Tokens after which the model says no more.
void add_ends(Text& text, const TokenizerData& tokenizer) {
  text.add("ends         ");
  for (const std::uint32_t id : ends_of(tokenizer)) {
    text.add(" %" PRIu32 " %s", id, quoted_name(tokenizer.vocabulary[id]).c_str());
  }
  text.add("\n");
}

void add_chat(Text& text, const ChatTemplate& chat) { text.add("chat template %s\n", chat_text(chat).c_str()); }

void add_key(Text& text, const VerifyingKey& key) {
  add_shape(text, key.shape);
  add_scales(text, key.shape, key.exponents, key.widths);
  text.add("layers        %s, epsilon %" PRId64 "\ntokenizer     %s, split %s, %zu tokens, %zu merges\n",
           layers_text(key.shape).c_str(), key.epsilon, std::string(name_of(key.tokenizer.model)).c_str(),
           std::string(name_of(key.tokenizer.split)).c_str(), key.tokenizer.vocabulary.size(),
           key.tokenizer.merges.size());
  add_ends(text, key.tokenizer);
  add_chat(text, key.tokenizer.chat);
  text.add("key digest    %s\nroot          %s\noracle        %zu rows, rate 1/%u\n", to_hex(key.digest()).c_str(),
           to_hex(key.parameter_root).c_str(), key.parameter_oracle.rows(),
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
  add_ends(text, model.tokenizer);
  add_chat(text, model.tokenizer.chat);
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
    text.add("codeword      2^%u columns of %u values\n", file.read_scalar<std::uint32_t>("log_columns"),
             file.read_scalar<std::uint32_t>("row_count"));
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

/// Made by a confined process: it may be a stranger's file.
std::string described(const std::string& path, const std::function<std::string()>& describe) {
  const std::vector<std::uint8_t> bytes = read_isolated_by_library(
      path,
      [&describe] {
        const std::string description = describe();
        return std::vector<std::uint8_t>(description.begin(), description.end());
      },
      IsolationLimits::for_whole(path));
  return {bytes.begin(), bytes.end()};
}

void inspect_file(const std::string& path, const InspectCommand& options) {
  const std::string text =
      described(path, [&] { return (options.json ? describe_file_as_json : describe_file)(path, options.check); });
  if (options.json && !is_safe_json(text)) {
    throw InputError(path + ": expected a readable file, found one that breaks the reader");
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

/// Where a conversation stands; with --check also whether its keys and values agree with their digests.
void inspect_state(const std::filesystem::path& directory, const InspectCommand& options) {
  inspect_file((directory / state_manifest).string(), options);
  if (!options.check) {
    return;
  }
  std::vector<std::string> parts;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().filename().string().starts_with(state_rows_prefix)) {
      parts.push_back(entry.path().string());
    }
  }
  std::ranges::sort(parts);
  for (const std::string& part : parts) {
    const std::string digest = described(part, [&] {
      const ReadFile file(part, state_rows_format);
      file.check_all();
      return to_hex(file.digest());
    });
    if (!options.json) {
      std::printf("%s: agrees with its digests, digest %s\n", one_line(part).c_str(), one_line(digest).c_str());
    }
  }
}

void inspect_directory(const std::filesystem::path& directory, const InspectCommand& options) {
  if (std::filesystem::exists(directory / "verifying.key")) {
    inspect_commitment(directory, options.json);
  } else if (std::filesystem::exists(directory / state_manifest)) {
    inspect_state(directory, options);
  } else {
    throw InputError(
        directory.string() +
        ": expected a directory with verifying.key, a commitment, or with state.h5, a state, found neither "
        "in it");
  }
}

}  // namespace

void run(const InspectCommand& options, Context& /*context*/) {
  if (std::filesystem::is_directory(options.file)) {
    inspect_directory(options.file, options);
  } else {
    inspect_file(options.file, options);
  }
}

}  // namespace tessera::cli
