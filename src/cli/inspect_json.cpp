#include "cli/inspect_json.hpp"

#include "archive/codeword_file.hpp"
#include "archive/gathered_file.hpp"
#include "archive/hdf5.hpp"
#include "archive/key_file.hpp"
#include "archive/model_file.hpp"
#include "archive/proof_file.hpp"
#include "archive/state_file.hpp"
#include "archive/trace_file.hpp"
#include "cli/json_output.hpp"
#include "cli/sampling_json.hpp"
#include "cli/ownership_json.hpp"
#include "plan/ends.hpp"

namespace tessera::cli {
namespace {

Json shape_json(const ModelShape& shape) {
  Json result{{"n_layer", shape.n_layer}, {"n_embd", shape.n_embd},   {"n_head", shape.n_head},
              {"n_inner", shape.n_inner}, {"n_vocab", shape.n_vocab}, {"n_positions", shape.n_positions}};
  for_each_choice(shape, [&result](std::string_view name, auto value, auto names) {
    result[std::string(name)] = names[static_cast<std::size_t>(value)];
  });
  if (shape.rotary()) {
    result["n_kv_head"] = shape.kv_heads();
    result["head_dim"] = shape.head_size();
    for_each_flag(shape, [&result](std::string_view name, bool flag) { result[std::string(name)] = flag; });
    result["rotations"] = shape.rotations;
    result["rotation_of_block"] = shape.rotation_of_block;
    result["window_of_block"] = shape.window_of_block;
    for_each_cap(shape, [&result](std::string_view name, bool cap) { result[std::string(name)] = cap; });
  }
  return result;
}

Json exponents_json(const ModelShape& shape, const Exponents& exponents) {
  Json result = Json::object();
  for_each_exponent(shape, exponents,
                    [&result](std::string_view name, std::int32_t value) { result[std::string(name)] = value; });
  return result;
}

Json widths_json(const ModelShape& shape, const Widths& widths) {
  Json result = Json::object();
  for_each_width(shape, widths,
                 [&result](std::string_view name, std::uint32_t value) { result[std::string(name)] = value; });
  return result;
}

Json tokenizer_json(const TokenizerData& tokenizer) {
  return {{"kind", name_of(tokenizer.model)},
          {"pre_tokenizer", name_of(tokenizer.split)},
          {"tokens", tokenizer.vocabulary.size()},
          {"merges", tokenizer.merges.size()},
          {"ends", ends_of(tokenizer)},
          {"chat_template", tokenizer.chat.text.empty() ? Json() : Json(tokenizer.chat.text)}};
}

void add_key(JsonDocument& document, const VerifyingKey& key) {
  document.add("shape", shape_json(key.shape));
  document.add("exponents", exponents_json(key.shape, key.exponents));
  document.add("widths", widths_json(key.shape, key.widths));
  document.add("layers", layers_text(key.shape));
  document.add("epsilon", key.epsilon);
  document.add("tokenizer", tokenizer_json(key.tokenizer));
  document.add("key_digest", to_hex(key.digest()));
  document.add("parameter_root", to_hex(key.parameter_root));
  document.add("parameter_oracle", Json{{"log_rows", key.parameter_oracle.log_rows},
                                        {"log_inverse_rate", key.parameter_oracle.log_inverse_rate},
                                        {"absent_rows", key.parameter_oracle.absent_rows}});
  document.add("exceptions", key.exceptions);
  document.add("hiding_proofs", key.hiding_proofs);
}

Json origin_json(const Origin& origin) {
  Json files = Json::array();
  for (const Origin::File& file : origin.files) {
    files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", to_hex(file.sha256)}});
  }
  return {{"format", origin.format}, {"files", files}, {"tensor_types", origin.tensor_types}};
}

void add_model(JsonDocument& document, const Model& model, const Digest& parameters) {
  document.add("shape", shape_json(model.shape));
  document.add("exponents", exponents_json(model.shape, model.exponents));
  document.add("widths", widths_json(model.shape, model.widths));
  document.add("layers", layers_text(model.shape));
  document.add("calibration", Json{{"margin", model.calibration.margin}, {"maxima", model.calibration.maxima}});
  document.add("tokenizer", tokenizer_json(model.tokenizer));
  document.add("origin", model.origin.format.empty() ? Json() : origin_json(model.origin));
  document.add("parameters_digest", to_hex(parameters));
}

void add_statement(JsonDocument& document, const Statement& statement) {
  document.add("prompt", statement.prompt);
  document.add("generated", statement.generated);
  const auto& start = statement.start;
  document.add(
      "continues",
      start ? Json{{"positions", start->length}, {"last_token", start->last_token}, {"root", to_hex(start->root)}}
            : Json());
  document.add("keeps_state", statement.keeps);
  document.add("sampling", sampling_json(statement.sampling));
  document.add("pass_length", statement.pass_length == 0 ? Json() : Json(statement.pass_length));
}

void add_proof(JsonDocument& document, const ProofArchive& proof) {
  document.add("text", proof.text);
  add_statement(document, proof.statement);
  document.add("payload", Json{{"bytes", proof.payload.size()}, {"digest", to_hex(blake2s(proof.payload))}});
  document.add("key_digest", to_hex(proof.key_digest));
  document.add("machine", Json{{"ranks", proof.machine.ranks},
                               {"threads", proof.machine.threads},
                               {"peak_memory", proof.machine.peak_memory}});
  document.add("configuration", proof.configuration);  // text: a stranger's may be no JSON, or too deep
  document.add("memory_measure", proof.memory_measure);
  Json timings = Json::array();
  for (const ScopeTiming& timing : proof.timings) {
    timings.push_back({{"scope", timing.scope}, {"seconds", timing.seconds}, {"peak_memory", timing.peak_memory}});
  }
  document.add("timings", timings);
  Json ranks = Json::array();
  for (const RankInfo& rank : proof.ranks) {
    ranks.push_back({{"processor", rank.processor}, {"seconds", rank.seconds}, {"peak_memory", rank.peak_memory}});
  }
  document.add("ranks", ranks);
  Json communication = Json::array();
  for (const ScopeTraffic& traffic : proof.communication) {
    communication.push_back(
        {{"scope", traffic.scope}, {"calls", traffic.calls}, {"sent", traffic.sent}, {"received", traffic.received}});
  }
  document.add("communication", communication);
  document.add("hosts", proof.hosts);
  document.add("ownership", ownership_json(proof.ownership));
  Json rounds = Json::array();
  for (const SoundnessEntry& entry : proof.soundness.entries) {
    rounds.push_back({{"scope", entry.scope}, {"reason", entry.reason}, {"bits", entry.bits}});
  }
  document.add("rounds", rounds);
  document.add("soundness", rounds.empty() ? Json()
                                           : Json{{"least", proof.soundness.round_by_round_bits()},
                                                  {"sum", proof.soundness.union_bits()}});
}

void add_gathered(JsonDocument& document, const std::vector<GatheredProof>& proofs) {
  Json rows = Json::array();
  for (const GatheredProof& proof : proofs) {
    rows.push_back({{"name", proof.name}, {"bytes", proof.bytes}});
  }
  document.add("proofs", rows);
}

void add_trace(JsonDocument& document, const TraceHeader& header) {
  document.add("rank", header.rank);
  document.add("ranks", header.ranks);
  document.add("tokens", header.tokens.size());
  document.add("prompt_length", header.prompt_length);
  document.add("generated", header.generated);
  document.add("key_digest", to_hex(header.model));
}

void add_state(JsonDocument& document, const ReadFile& file) {
  document.add("positions", file.read_scalar<std::uint64_t>("length"));
  document.add("last_token", file.read_scalar<std::uint32_t>("last_token"));
  document.add("root", to_hex(file.read<std::uint8_t>("root", {sizeof(Digest)})));
  document.add("key_digest", to_hex(file.read<std::uint8_t>("key_digest", {sizeof(Digest)})));
}

void add_codeword(JsonDocument& document, const ReadFile& file) {
  document.add("log_columns", file.read_scalar<std::uint32_t>("log_columns"));
  document.add("row_count", file.read_scalar<std::uint32_t>("row_count"));
  if (file.format() == codeword_format) {
    document.add("parameters_digest", to_hex(file.read<std::uint8_t>("parameters_digest", {sizeof(Digest)})));
  }
}

Json datasets_json(const ReadFile& file) {
  Json rows = Json::array();
  for (const auto& [name, info] : file.datasets()) {
    rows.push_back(
        {{"name", name}, {"type", info.type.to_string()}, {"extents", info.extents}, {"bytes", info.bytes()}});
  }
  return rows;
}

}  // namespace

std::string describe_file_as_json(const std::string& path, bool check) {
  JsonDocument document;
  const ReadFile file(path);
  document.add("file", path);
  document.add("format", file.format());
  document.add("format_version", format_version);
  document.add("bytes", file.file_bytes());
  document.add("digest", to_hex(file.digest()));
  if (file.format() == model_format) {
    add_model(document, load_model(path), parameters_digest(path));
  } else if (file.format() == key_format) {
    add_key(document, load_key(path));
  } else if (file.format() == proof_format) {
    add_proof(document, load_proof(path));
  } else if (file.format() == gathered_format) {
    add_gathered(document, read_gathered(file));
  } else if (file.format() == trace_format) {
    add_trace(document, read_trace_header(file));
  } else if (file.format() == state_format) {
    add_state(document, file);
  } else if (file.format() == codeword_format || file.format() == shard_format) {
    add_codeword(document, file);
  }
  document.add("datasets", datasets_json(file));
  if (check) {
    file.check_all();
  }
  document.add("all_digests_checked", check);
  return document.finish();
}

}  // namespace tessera::cli
