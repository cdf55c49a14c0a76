#include <cmath>
#include <iomanip>
#include <sstream>

#include "archive/hiding_files.hpp"
#include "cli/pipeline.hpp"
#include "words/codeword.hpp"
#include "words/row_groups.hpp"
#include "opening/schedule.hpp"
#include "integer_model/integer_model.hpp"
#include "integer_model/quantization.hpp"
#include "transcript/shown_bits.hpp"

namespace tessera::cli {
namespace {

/// Row variables of the shortest proofs.
OpeningSchedule shortest_opening(const VerifyingKey& key) {
  const ModelPlan plan = ModelPlan::of(key, 1, 1);
  const std::size_t extra = plan.hiding ? salt_elements : 0;
  return opening_schedule(std::vector<CommittedOracle>{{plan.parameter_layout, key.parameter_oracle, {}, extra},
                                                       {plan.witness_layout, plan.witness_oracle, {}, extra}});
}

/// The larger a commitment, the larger the error of every proof under its key, shortest ones included. Random columns
/// shall not be the reason why proofs need more work before row variables.
void require_sound_proofs(const VerifyingKey& key) {
  VerifyingKey plain = key;
  plain.hiding_proofs = 0;
  const OpeningSchedule schedule = shortest_opening(key);
  const double error = static_cast<double>(schedule.row_challenges(0) * schedule.row_error(0));
  const double bits = 128 - std::log2(error) + shortest_opening(plain).row_work(0);
  if (bits < required_soundness_bits) {
    std::ostringstream found;
    found << std::fixed << std::setprecision(1) << shown_bits(bits);
    throw InputError("--proofs: expected so few that proofs have " +
                     std::to_string(static_cast<int>(required_soundness_bits)) + " bits of soundness, found " +
                     std::to_string(key.hiding_proofs) + ", which leave " + found.str());
  }
}

}  // namespace

VerifyingKey commit_model(const Model& model, const Digest& parameters, const CommitmentFiles& files,
                          const std::optional<HidingCommitment>& hiding, std::uint32_t exceptions, Communicator& comm,
                          Progress& progress) {
  ParameterMaxima maxima = parameter_maxima(model.parameters);
  comm.all_reduce_max(std::span(maxima));
  check_bounds(model, maxima);
  progress.begin("encoding and writing parameters");
  VerifyingKey key = make_verifying_key(model, hiding ? hiding->proofs : 0);
  key.exceptions = exceptions;
  check_key(key);  // that the oracle can be as large
  if (hiding) {
    require_sound_proofs(key);
  }
  const Division division = Division::finest(comm.size());
  const OracleLayout layout = parameter_layout(key, division);
  const ParameterTensors parameter_tensors = ParameterTensors::of(model.shape, model.parameters, comm.rank(), division);
  std::vector<IntegerTensor> tensors = parameter_tensors.views();
  std::optional<HidingSecret> secret;
  ChunkedTensor<std::int64_t> tail;
  if (hiding) {
    secret.emplace(commitment_seed(hiding->secret, parameters, key));
    tail = random_columns(layout.tensors().back(), secret->columns, comm);
    tensors.emplace_back(&tail);
  }
  const OracleParameters& oracle = key.parameter_oracle;
  CodewordWriter writer(files.directory,
                        {static_cast<unsigned>(oracle.rows()), layout.log_domain(oracle),
                         hiding ? static_cast<unsigned>(salt_elements) : 0U},
                        comm, files.kind);
  const std::size_t rows = oracle.rows();
  encode_rows(layout, oracle, tensors, writer.columns(), comm, [&](Range range, std::span<const F> values) {
    writer.append(range.size(), values);
    progress.update(range.last, rows);
  });
  if (hiding) {
    RawVector<F> salt(writer.columns().size() * salt_elements);
    secret->salt->elements(writer.columns().first * salt_elements, std::span<F>(salt));
    writer.append_salt(salt);
  }
  progress.begin("waiting for the disk");
  key.parameter_root = writer.finish(parameters);
  return key;
}

}  // namespace tessera::cli
