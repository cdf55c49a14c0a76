#include <iostream>
#include "archive/hdf5.hpp"
#include "archive/key_file.hpp"
#include "archive/model_file.hpp"
#include "cluster/agreement.hpp"
#include "memory/storage.hpp"

#include "cli/command.hpp"
#include "cli/pipeline.hpp"
#include "archive/staged_directory.hpp"

namespace tessera::cli {

void run(const CommitCommand& options, Context& context) {
  keep_freed_heap();
  const Model model = load_model(options.model, context.comm.rank(), context.comm.size());
  require_agreement(context.comm, options.model, ReadFile(options.model).digest());
  StagedDirectory directory(options.out, context.comm);
  const VerifyingKey key =
      commit_model(model, parameters_digest(options.model), directory.path(),
                   options.compact ? CodewordKind::compact : CodewordKind::whole, context.comm, context.progress);
  if (context.comm.rank() == 0) {
    save_key(directory.path() / "verifying.key", key);
  }
  directory.commit("verifying.key", "codeword");
  context.progress.finish();
  if (context.comm.rank() == 0) {
    std::cout << "parameter root  " << to_hex(key.parameter_root) << "\nkey digest      " << to_hex(key.digest())
              << '\n';
  }
}

}  // namespace tessera::cli
