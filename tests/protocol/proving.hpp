#pragma once

#include <omp.h>

#include <fstream>
#include <iterator>
#include <map>
#include "cluster/thread_communicator.hpp"
#include "words/codeword.hpp"
#include "integer_model/import.hpp"
#include "integer_model/integer_model.hpp"
#include "protocol/protocol.hpp"
#include "plan/witness.hpp"

#include "../golden/golden_import.hpp"

namespace tessera::test {

inline std::filesystem::path bundled_folder(const std::string& name) {
  return std::filesystem::path(TESSERA_SOURCE_DIR) / "configs" / name;
}

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// A bundled model, imported on first use.
inline const ImportedModel& bundled(const std::string& name) {
  static std::map<std::string, ImportedModel> models;
  if (!models.contains(name)) {
    models.emplace(name, golden::import_bundled(name));
  }
  return models.at(name);
}

/// What a proving job of `ranks` threads as ranks, with this many OpenMP threads each, gives.
struct Job {
  Statement statement;
  VerifyingKey key;
  std::vector<std::uint8_t> payload;
  std::size_t rows = 0;  // with filler
};

/// Commits to the model, generates and proves; every rank must come to the same root, text and payload.
inline Job prove_job(const Model& model, const std::vector<std::uint32_t>& prompt, std::size_t generate, int ranks,
                     int threads, std::uint32_t pass_length = 0, const std::optional<Sampling>& sampling = {}) {
  std::vector<Job> jobs(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Communicator& comm) {
    omp_set_num_threads(threads);
    Job& job = jobs[static_cast<std::size_t>(comm.rank())];
    job.key = make_verifying_key(model);
    const PassShape pass{
        .prompt = prompt.size(), .generated = generate, .pass_length = pass_length, .sampling = sampling};
    const Division division = pass.division(comm.size());
    const ParameterTensors parameters = ParameterTensors::of(model.shape, model.parameters, comm.rank(), division);
    MemoryCodewordStore codeword(
        encode_oracle(parameter_layout(job.key, division), job.key.parameter_oracle, parameters.views(), true, comm),
        comm);
    job.key.parameter_root = codeword.root();
    const ModelPlan plan = ModelPlan::of(job.key, pass, division);
    const Trace trace = run_inference(integer_model(model), plan, prompt, comm);
    job.rows = trace.tokens.size();
    job.statement.prompt = prompt;
    job.statement.generated = trace.generated_tokens();
    job.statement.pass_length = pass_length;
    job.statement.sampling = sampling;
    job.payload = prove_inference(plan, job.key, job.statement, trace, {parameters, codeword}, comm).payload;
  });
  for (const Job& job : jobs) {
    if (job.payload != jobs.front().payload || job.statement != jobs.front().statement ||
        job.key.parameter_root != jobs.front().key.parameter_root) {
      throw std::logic_error("the ranks of one job differ");
    }
  }
  return std::move(jobs.front());
}

}  // namespace tessera::test
