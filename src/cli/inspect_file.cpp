#include "cli/inspect_file.hpp"

#include <cinttypes>

#include "archive/codeword_file.hpp"
#include "archive/gathered_file.hpp"
#include "archive/hdf5.hpp"
#include "archive/key_file.hpp"
#include "archive/model_file.hpp"
#include "archive/proof_file.hpp"
#include "archive/state_file.hpp"
#include "archive/trace_file.hpp"
#include "base/text.hpp"
#include "cli/verify_chat.hpp"
#include "plan/ends.hpp"

namespace tessera::cli {
namespace {

void describe_shape(Description& description, const ModelShape& shape) {
  Json fields{{"n_layer", shape.n_layer}, {"n_embd", shape.n_embd},   {"n_head", shape.n_head},
              {"n_inner", shape.n_inner}, {"n_vocab", shape.n_vocab}, {"n_positions", shape.n_positions}};
  for_each_choice(shape, [&fields](std::string_view name, auto value, auto names) {
    fields[std::string(name)] = names[static_cast<std::size_t>(value)];
  });
  description.say("shape         %zu layers, width %zu, %zu heads, inner %zu, vocabulary %zu, context %zu\n",
                  shape.n_layer, shape.n_embd, shape.n_head, shape.n_inner, shape.n_vocab, shape.n_positions);
  if (shape.rotary()) {
    const auto add_flag = [&fields](std::string_view name, bool flag) { fields[std::string(name)] = flag; };
    fields["n_kv_head"] = shape.kv_heads();
    fields["head_dim"] = shape.head_size();
    for_each_flag(shape, add_flag);
    fields["rotations"] = shape.rotations;
    fields["rotation_of_block"] = shape.rotation_of_block;
    fields["window_of_block"] = shape.window_of_block;
    for_each_cap(shape, add_flag);
    description.say("              %zu heads of keys and values, of %zu places%s%s%s\n", shape.kv_heads(),
                    shape.head_size(), shape.tied ? "" : ", a head of its own",
                    shape.qkv_bias ? ", biases of q, k, v" : "", shape.head_norm ? ", norms on q and k" : "");
  }
  description.field("shape", fields);
}

/// Exponents, and widths where a model chooses them.
void describe_scales(Description& description, const ModelShape& shape, const Exponents& exponents,
                     const Widths& widths) {
  Json fields = Json::object();
  const auto add = [&](std::string_view name, std::int64_t value) {
    fields[std::string(name)] = value;
    description.say(" %.*s=%" PRId64, static_cast<int>(name.size()), name.data(), value);
  };
  description.say("exponents    ");
  for_each_exponent(shape, exponents, add);
  description.field("exponents", fields);
  fields = Json::object();
  description.say(shape.rotary() ? "\nwidths       " : "\n");
  for_each_width(shape, widths, add);
  description.field("widths", fields);
  description.say(shape.rotary() ? "\n" : "");
}

/// `kind`: what the text says of its kind, with a comma.
void describe_tokenizer(Description& description, const TokenizerData& tokenizer, const std::string& kind) {
  const std::vector<std::uint32_t> ends = ends_of(tokenizer);  // tokens after which the model says no more
  description.field("tokenizer",
                    Json{{"kind", name_of(tokenizer.model)},
                         {"pre_tokenizer", name_of(tokenizer.split)},
                         {"tokens", tokenizer.vocabulary.size()},
                         {"merges", tokenizer.merges.size()},
                         {"ends", ends},
                         {"chat_template", tokenizer.chat.text.empty() ? Json() : Json(tokenizer.chat.text)}});
  description.say("tokenizer     %s%zu tokens, %zu merges\nends         ", kind.c_str(), tokenizer.vocabulary.size(),
                  tokenizer.merges.size());
  for (const std::uint32_t id : ends) {
    description.say(" %" PRIu32 " %s", id, quoted_name(tokenizer.vocabulary[id]).c_str());
  }
  description.say("\nchat template %s\n", chat_text(tokenizer.chat).c_str());
}

void describe_key(Description& description, const VerifyingKey& key) {
  describe_shape(description, key.shape);
  describe_scales(description, key.shape, key.exponents, key.widths);
  const std::string layers = layers_text(key.shape);
  description.field("layers", layers).field("epsilon", key.epsilon);
  description.say("layers        %s, epsilon %" PRId64 "\n", layers.c_str(), key.epsilon);
  describe_tokenizer(
      description, key.tokenizer,
      std::string(name_of(key.tokenizer.model)) + ", split " + std::string(name_of(key.tokenizer.split)) + ", ");
  const std::string digest = to_hex(key.digest()), root = to_hex(key.parameter_root);
  const auto& oracle = key.parameter_oracle;
  description.field("key_digest", digest)
      .field("parameter_root", root)
      .field("parameter_oracle", Json{{"log_rows", oracle.log_rows},
                                      {"log_inverse_rate", oracle.log_inverse_rate},
                                      {"absent_rows", oracle.absent_rows}});
  description.say("key digest    %s\nroot          %s\noracle        %zu rows, rate 1/%u\n", digest.c_str(),
                  root.c_str(), oracle.rows(), 1U << oracle.log_inverse_rate);
  description.field("exceptions", key.exceptions).field("hiding_proofs", key.hiding_proofs);
  if (key.exceptions > 0) {
    description.say("exceptions    up to %" PRIu32
                    " values of a proof may leave their range: they are clamped, and listed\n",
                    key.exceptions);
  }
  if (key.hiding_proofs > 0) {
    description.say("hiding        yes, good for %" PRIu64 " proofs\n", key.hiding_proofs);
  }
  if (key.hiding_proofs > 0 && key.exceptions > 0) {
    description.say("              but for exceptions: a proof shows where up to %" PRIu32
                    " activations left their range, and by how much\n",
                    key.exceptions);
  }
}

/// Where a model comes from; nothing of one that does not say it.
void describe_origin(Description& description, const Origin& origin) {
  if (origin.format.empty()) {
    description.field("origin", Json());
    return;
  }
  description.say("origin        %s", printable(origin.format).c_str());
  for (const auto& [type, count] : origin.tensor_types) {
    description.say("%s %s %" PRIu64, type == origin.tensor_types.begin()->first ? ", tensors:" : ",",
                    printable(type).c_str(), count);
  }
  description.say("\n");
  Json files = Json::array();
  for (const Origin::File& file : origin.files) {
    const std::string digest = to_hex(file.sha256);
    files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", digest}});
    description.say("              %s, %" PRIu64 " bytes, SHA-256 %s\n", quoted_name(file.name).c_str(), file.bytes,
                    digest.c_str());
  }
  description.field("origin", Json{{"format", origin.format}, {"files", files}, {"tensor_types", origin.tensor_types}});
}

void describe_model(Description& description, const std::string& path) {
  const Model model = load_model(path);
  describe_shape(description, model.shape);
  describe_scales(description, model.shape, model.exponents, model.widths);
  const Calibration& calibration = model.calibration;
  description.field("layers", layers_text(model.shape))
      .field("calibration", Json{{"margin", calibration.margin}, {"maxima", calibration.maxima}});
  description.say("calibration   margin %g", calibration.margin);
  for (const auto& [name, value] : calibration.maxima) {
    description.say(", %s %g", printable(name).c_str(), value);
  }
  description.say("\n");
  describe_tokenizer(description, model.tokenizer, "");
  describe_origin(description, model.origin);
  const std::string digest = to_hex(parameters_digest(path));
  description.field("parameters_digest", digest).say("parameters    %s\n", digest.c_str());
}

void describe_gathered(Description& description, const std::vector<GatheredProof>& proofs) {
  description.say("proofs        %zu\n\n%14s  proof\n", proofs.size(), "bytes");
  description.list("proofs", proofs, [&](const GatheredProof& proof) -> Json {
    description.say("%14" PRIu64 "  %s\n", proof.bytes, printable(proof.name).c_str());
    return {{"name", proof.name}, {"bytes", proof.bytes}};
  });
}

void describe_trace(Description& description, const TraceHeader& header) {
  const std::string model = to_hex(header.model);
  description.field("rank", header.rank).field("ranks", header.ranks).field("tokens", header.tokens.size());
  description.field("prompt_length", header.prompt_length).field("generated", header.generated);
  description.field("key_digest", model);
  description.say("rank          %u of %u\ntokens        %zu, prompt %" PRIu64 ", generated %" PRIu64 "\n", header.rank,
                  header.ranks, header.tokens.size(), header.prompt_length, header.generated);
  description.say("model         %s\n", model.c_str());
}

std::string digest_in(const ReadFile& file, const std::string& dataset) {
  return to_hex(file.read<std::uint8_t>(dataset, {sizeof(Digest)}));
}

void describe_state(Description& description, const ReadFile& file) {
  const auto positions = file.read_scalar<std::uint64_t>("length");
  const auto last_token = file.read_scalar<std::uint32_t>("last_token");
  const std::string root = digest_in(file, "root"), key = digest_in(file, "key_digest");
  description.field("positions", positions).field("last_token", last_token);
  description.field("root", root).field("key_digest", key);
  description.say("positions     %" PRIu64 ", then token %u\nroot          %s\nkey digest    %s\n", positions,
                  last_token, root.c_str(), key.c_str());
}

void describe_codeword(Description& description, const ReadFile& file) {
  const auto log_columns = file.read_scalar<std::uint32_t>("log_columns");
  const auto rows = file.read_scalar<std::uint32_t>("row_count");
  description.field("log_columns", log_columns).field("row_count", rows);
  description.say("codeword      2^%u columns of %u values\n", log_columns, rows);
  if (file.format() == codeword_format) {
    const std::string digest = digest_in(file, "parameters_digest");
    description.field("parameters_digest", digest).say("parameters    %s\n", digest.c_str());
  }
}

void describe_content(Description& description, const std::string& path, const ReadFile& file) {
  const std::string& format = file.format();
  if (format == model_format) {
    describe_model(description, path);
  } else if (format == key_format) {
    describe_key(description, load_key(path));
  } else if (format == proof_format) {
    describe_proof(description, load_proof(path));
  } else if (format == gathered_format) {
    describe_gathered(description, read_gathered(file));
  } else if (format == trace_format) {
    describe_trace(description, read_trace_header(file));
  } else if (format == state_format) {
    describe_state(description, file);
  } else if (format == codeword_format || format == shard_format) {
    describe_codeword(description, file);
  }
}

void describe_datasets(Description& description, const ReadFile& file) {
  description.say("\n%14s  %-10s %-22s dataset\n", "bytes", "type", "extents");
  description.list("datasets", file.datasets(), [&](const auto& dataset) -> Json {
    const auto& [name, info] = dataset;
    const std::string type = info.type.to_string();
    description.say("%14" PRIu64 "  %-10s %-22s %s\n", info.bytes(), type.c_str(), to_string(info.extents).c_str(),
                    printable(name).c_str());
    return {{"name", name}, {"type", type}, {"extents", info.extents}, {"bytes", info.bytes()}};
  });
}

}  // namespace

std::string describe_file(const std::string& path, bool check, Description::Form form) {
  Description description(form);
  const ReadFile file(path);
  const std::string digest = to_hex(file.digest());
  description.field("file", path).field("format", file.format()).field("format_version", format_version);
  description.field("bytes", file.file_bytes()).field("digest", digest);
  description.say("%s: %s, format version %u, %" PRIu64 " bytes\ndigest        %s\n", one_line(path).c_str(),
                  printable(file.format()).c_str(), format_version, file.file_bytes(), digest.c_str());
  describe_content(description, path, file);
  describe_datasets(description, file);
  if (check) {
    file.check_all();
    description.say("\nall %zu datasets agree with their digests\n", file.datasets().size());
  }
  description.field("all_digests_checked", check);
  return description.finish();
}

}  // namespace tessera::cli
