#include <iostream>
#include "archive/hdf5.hpp"
#include "archive/hiding_files.hpp"
#include "archive/hiding_uses.hpp"
#include "archive/key_file.hpp"
#include "archive/model_file.hpp"
#include "base/heap.hpp"
#include "base/text.hpp"
#include "cluster/agreement.hpp"
#include "hash/keyed_stream.hpp"
#include "plan/hiding.hpp"

#include "cli/command.hpp"
#include "cli/pipeline.hpp"
#include "archive/staged_directory.hpp"

namespace tessera::cli {

namespace {

/// The secret that is given, or a new one. Collective.
Digest secret_of(const CommitCommand& options, Communicator& comm) {
  Digest secret{};
  fail_together(comm, [&] {
    if (comm.rank() == 0) {
      secret = options.secret.empty() ? random_seed() : load_secret(options.secret);
    }
  });
  return comm.all_gather(std::span<const Digest>(&secret, 1)).front();
}

/// Most proofs that a commitment half as large would be good for. 0: none, or as many.
std::uint64_t proofs_of_half(VerifyingKey key) {
  const unsigned size = parameter_layout(key).log_domain(key.parameter_oracle);
  std::uint64_t fit = 0;
  for (std::uint64_t more = key.hiding_proofs; fit < more;) {
    key.hiding_proofs = more - (more - fit) / 2;
    if (parameter_layout(key).log_domain(key.parameter_oracle) < size) {
      fit = key.hiding_proofs;
    } else {
      more = key.hiding_proofs - 1;
    }
  }
  return fit;
}

}  // namespace

void run(const CommitCommand& options, Context& context) {
  keep_freed_heap();
  const Model model = load_model(options.model, context.comm.rank(), Division::finest(context.comm.size()));
  require_agreement(context.comm, options.model, ReadFile(options.model).digest());
  std::optional<HidingCommitment> hiding;
  std::optional<CommitCount> count;  // of rank 0
  if (options.hiding) {
    keep_process_private();
    hiding = HidingCommitment{options.proofs, secret_of(options, context.comm)};
    fail_together(context.comm, [&] {
      if (context.comm.rank() == 0) {
        count.emplace(options.secret, options.out);
      }
    });
  }
  StagedDirectory directory(options.out, context.comm);
  const VerifyingKey key =
      commit_model(model, parameters_digest(options.model),
                   {directory.path(), options.compact ? CodewordKind::compact : CodewordKind::whole}, hiding,
                   options.exceptions.value_or(hiding ? 0 : default_exceptions), context.comm, context.progress);
  bool first_count = false;
  fail_together(context.comm, [&] {
    if (context.comm.rank() == 0) {
      save_key(directory.path() / "verifying.key", key);
      if (hiding) {
        make_public(directory.path() / "verifying.key");
        first_count = count->write(directory.path(), hiding->secret, CountedKey::of(key));
      }
    }
  });
  directory.commit("verifying.key", "codeword");
  count.reset();
  context.progress.finish();
  if (context.comm.rank() == 0) {
    std::cout << "parameter root  " << to_hex(key.parameter_root) << "\nkey digest      " << to_hex(key.digest())
              << '\n';
    if (const std::uint64_t fit = hiding ? proofs_of_half(key) : 0; fit > 0) {
      std::cout << "proofs          " << hiding->proofs << ": a commitment that is good for " << fit
                << " is half as large: proofs take less time\n";
    }
    if (first_count && !options.secret.empty()) {
      std::cout << "uses            counted from 0 on beside " << one_line(options.secret)
                << ": if a copy of it has served elsewhere, give a new secret\n";
    }
  }
}

}  // namespace tessera::cli
