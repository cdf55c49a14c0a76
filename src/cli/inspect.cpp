#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <tessera/archive/codeword_file.hpp>
#include <tessera/archive/hdf5.hpp>
#include <tessera/archive/key_file.hpp>
#include <tessera/archive/model_file.hpp>
#include <tessera/archive/proof_file.hpp>
#include <tessera/archive/trace_file.hpp>

#include "command.hpp"
#include "exit_code.hpp"

namespace tessera::cli {
namespace {

struct Options {
  std::string file;
  bool check = false;
};

constexpr double mebibyte = 1024.0 * 1024.0;

void print_shape(const ModelShape& shape) {
  std::printf("shape         %zu layers, width %zu, %zu heads, inner %zu, vocabulary %zu, context %zu\n", shape.n_layer,
              shape.n_embd, shape.n_head, shape.n_inner, shape.n_vocab, shape.n_positions);
}

void print_exponents(const Exponents& exponents) {
  std::printf("exponents    ");
  for_each_exponent(exponents, [](std::string_view name, std::int32_t value) {
    std::printf(" %.*s=%d", static_cast<int>(name.size()), name.data(), value);
  });
  std::printf("\n");
}

void print_key(const VerifyingKey& key) {
  print_shape(key.shape);
  print_exponents(key.exponents);
  std::printf("key digest    %s\nroot          %s\noracle        2^%u rows, rate 1/%u\n", to_hex(key.digest()).c_str(),
              to_hex(key.parameter_root).c_str(), key.parameter_oracle.log_rows,
              1U << key.parameter_oracle.log_inverse_rate);
}

double seconds_of(const ProofArchive& proof, std::string_view scope) {
  const auto found = std::ranges::find(proof.timings, scope, &ScopeTiming::scope);
  return found == proof.timings.end() ? 0 : found->seconds;
}

void print_timings(const ProofArchive& proof) {
  std::printf("time          %.4f s, plain inference %.4f s of it\n", seconds_of(proof, "/"),
              seconds_of(proof, "/inference"));
  std::printf("memory        %s\n",
              proof.memory_measure.empty() ? "not recorded by scope" : printable(proof.memory_measure).c_str());
  std::printf("\n%12s %10s  scope\n", "seconds", "peak MiB");
  for (const ScopeTiming& timing : proof.timings) {
    std::printf("%12.4f %10.1f  %s\n", timing.seconds, static_cast<double>(timing.peak_memory) / mebibyte,
                printable(timing.scope).c_str());
  }
}

void print_proof(const ProofArchive& proof) {
  std::printf("text          %s\n", printable(proof.text).c_str());
  std::printf("tokens        %zu prompt, %zu generated\n", proof.statement.prompt.size(),
              proof.statement.generated.size());
  std::printf("payload       %zu bytes (%.3f MiB), digest %s\n", proof.payload.size(),
              static_cast<double>(proof.payload.size()) / mebibyte, to_hex(blake2s(proof.payload)).c_str());
  std::printf("key digest    %s\n", to_hex(proof.key_digest).c_str());
  std::printf("computed by   %u ranks of %u threads, at most %.1f MiB a rank\n", proof.machine.ranks,
              proof.machine.threads, static_cast<double>(proof.machine.peak_memory) / mebibyte);
  std::printf("configuration %s\n", printable(proof.configuration).c_str());
  print_timings(proof);
  std::printf("\n%12s  round\n", "bits");
  for (const SoundnessEntry& entry : proof.soundness.entries) {
    std::printf("%12.1f  %s: %s\n", entry.bits, printable(entry.scope).c_str(), printable(entry.reason).c_str());
  }
  if (!proof.soundness.entries.empty()) {
    std::printf("%12.1f  least (round by round)\n%12.1f  sum of all errors\n", proof.soundness.round_by_round_bits(),
                proof.soundness.union_bits());
  }
}

void print_model(const Model& model, bool original) {
  print_shape(model.shape);
  print_exponents(model.exponents);
  std::printf("calibration   margin %g", model.calibration.margin);
  for (const auto& [name, value] : model.calibration.maxima) {
    std::printf(", %s %g", name.c_str(), value);
  }
  std::printf("\ntokenizer     %zu tokens, %zu merges\nfloat weights %s\n", model.tokenizer.vocabulary.size(),
              model.tokenizer.merges.size(), original ? "yes" : "no");
}

void print_datasets(const ReadFile& file) {
  std::printf("\n%14s  %-10s %-22s dataset\n", "bytes", "type", "extents");
  for (const auto& [name, info] : file.datasets()) {
    std::printf("%14" PRIu64 "  %-10s %-22s %s\n", info.bytes(), info.type.to_string().c_str(),
                to_string(info.extents).c_str(), printable(name).c_str());
  }
}

void run(const Options& options, Context& context) {
  if (context.comm.rank() != 0) {
    return;
  }
  const ReadFile file(options.file);
  std::printf("%s: %s, format version %u, %" PRIu64 " bytes\n", options.file.c_str(), file.format().c_str(),
              format_version, file.file_bytes());
  std::printf("digest        %s\n", to_hex(file.digest()).c_str());
  if (file.format() == model_format) {
    print_model(load_model(options.file), file.contains("float/embedding"));
  } else if (file.format() == key_format) {
    print_key(load_key(options.file));
  } else if (file.format() == proof_format) {
    print_proof(load_proof(options.file));
  } else if (file.format() == trace_format) {
    const TraceFile trace(options.file);
    const TraceHeader& header = trace.header();
    std::printf("rank          %u of %u\ntokens        %zu, prompt %" PRIu64 ", generated %" PRIu64
                "\nmodel         %s\n",
                header.rank, header.ranks, header.tokens.size(), header.prompt_length, header.generated,
                to_hex(header.model).c_str());
  } else if (file.format() == codeword_format || file.format() == shard_format) {
    std::printf("codeword      2^%u columns of 2^%u values\n", file.read_scalar<std::uint32_t>("log_columns"),
                file.read_scalar<std::uint32_t>("log_rows"));
  }
  print_datasets(file);
  if (options.check) {
    file.check_all();
    std::printf("\nall %zu datasets agree with their digests\n", file.datasets().size());
  }
}

}  // namespace

Command add_inspect(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("inspect", "Say what a file of ours is and what is in it");
  app->add_option("file", options->file, "model, key, commitment, trace or proof file")->required();
  app->add_flag("--check", options->check, "read everything and check all digests");
  return {app, [options](Context& context) { run(*options, context); }};
}

}  // namespace tessera::cli
