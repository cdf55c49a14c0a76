#include <iostream>

#include "api/commitment.hpp"
#include "archive/hdf5.hpp"
#include "archive/hiding_files.hpp"
#include "archive/model_file.hpp"
#include "archive/renewal_file.hpp"
#include "base/errors.hpp"
#include "base/heap.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cluster/agreement.hpp"
#include "plan/hiding.hpp"
#include "plan/witness.hpp"
#include "protocol/renewal.hpp"
#include "transcript/shown_bits.hpp"

namespace tessera::cli {
namespace {

/// A commitment, ready to be opened.
class Side {
 public:
  Side(const RenewCommand& options, const Model& model, const std::string& directory, Communicator& comm)
      : committed_(open_commitment(options.model, model, directory, comm)) {
    if (!committed_.hiding) {
      throw InputError(directory + ": expected a hiding commitment, found a plain one: there is nothing to renew");
    }
  }
  [[nodiscard]] const VerifyingKey& key() const { return committed_.key; }
  [[nodiscard]] RenewalSide open(const ParameterTensors& parameters, const Division& division) {
    std::vector<IntegerTensor> tensors = committed_.hiding->with_columns(parameters.views());
    committed_.codeword->bind(
        parameter_layout(key(), division), key().parameter_oracle, [tensors] { return tensors; },
        committed_.hiding->salt());
    return {std::move(tensors), committed_.codeword.get()};
  }
  void reserve(Communicator& comm) const { committed_.hiding->reserve(comm); }

 private:
  CommittedModel committed_;
};

/// Random columns that are made alike would not hide: what proofs under both keys open could be subtracted.
void require_other_secret(const RenewCommand& options, Communicator& comm) {
  if (shared_secret(options.commitment, comm) == shared_secret(options.renewed, comm)) {
    throw InputError(options.renewed + "/secret: expected another secret than that of " + options.commitment +
                     ", found the same");
  }
}

/// Rank 0 verifies what it is about to write. Collective.
void check_own(const VerifyingKey& old_key, const VerifyingKey& new_key, std::span<const std::uint8_t> payload,
               Communicator& comm) {
  fail_together(comm, [&] {
    if (comm.rank() == 0) {
      const Verdict verdict = verify_renewal(old_key, new_key, payload);
      if (!verdict.accepted) {
        throw JobError("the renewal would be rejected at " + verdict.scope + ": " + verdict.reason +
                       ": a commitment is damaged or not of this model");
      }
    }
  });
}

}  // namespace

void run(const RenewCommand& options, Context& context) {
  Communicator& comm = context.comm;
  keep_freed_heap();
  keep_process_private();
  context.progress.begin("reading model and commitments");
  const Division division = Division::finest(comm.size());
  Model model = load_model(options.model, comm.rank(), division);
  Side before(options, model, options.commitment, comm);
  Side after(options, model, options.renewed, comm);
  require_other_secret(options, comm);
  if (comm.rank() == 0) {
    (void)WriteFile(options.out, renewal_format);  // an unwritable target is better found now
  }
  const ParameterTensors parameters =
      ParameterTensors::of(model.shape, std::move(model.parameters), comm.rank(), division);
  context.progress.begin("proving");
  const auto reserve = [&] {
    before.reserve(comm);
    after.reserve(comm);
  };
  Renewal renewal{before.key().digest(), {after.key(), after.key().digest()}, {}};
  renewal.payload =
      prove_renewal(before.key(), after.key(), {before.open(parameters, division), after.open(parameters, division)},
                    shared_seed(comm), reserve, comm)
          .payload;
  context.progress.begin("checking the renewal");
  check_own(before.key(), after.key(), renewal.payload, comm);
  context.progress.finish();
  if (comm.rank() == 0) {
    save_renewal(options.out, renewal);
    make_public(options.out);
    const SoundnessReport report = renewal_soundness(RenewalPlan::of(before.key(), after.key()));
    std::printf(
        "key digest      %s\nrenewed digest  %s\n%s: renewal of %zu bytes, %.1f bits round by round, %.1f all "
        "together\n",
        to_hex(renewal.old_key).c_str(), to_hex(renewal.key.digest).c_str(), one_line(options.out).c_str(),
        renewal.payload.size(), shown_bits(report.round_by_round_bits()), shown_bits(report.union_bits()));
  }
}

}  // namespace tessera::cli
