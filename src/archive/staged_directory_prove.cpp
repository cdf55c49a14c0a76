#include "archive/staged_directory.hpp"

#include <unistd.h>

#include "base/errors.hpp"
#include "cluster/serialization.hpp"
#include "files/staged_file.hpp"
#include "files/temporary.hpp"
#include "files/partial_directory.hpp"

namespace tessera {

namespace fs = std::filesystem;

StagedDirectory::StagedDirectory(const fs::path& target, Communicator& comm)
    : target_(through_links(target)), comm_(comm) {
  std::string name = temporary_beside(target_).string();
  broadcast_object(comm_, name);
  temporary_ = name;
  if (comm_.rank() == 0) {
    const fs::file_status status = fs::status(target_);
    if (fs::exists(status) && (!fs::is_directory(status) || ::access(target_.c_str(), W_OK) != 0)) {
      throw InputError(target_.string() + ": expected a writable directory, found something else");
    }
    make_partial_directory(temporary_, target_);
  }
  comm_.barrier();
  register_temporary(temporary_);  // by every rank: mpirun may kill one before the others have left the directory
}

StagedDirectory::~StagedDirectory() {
  if (committed_) {
    return;
  }
  if (comm_.rank() == 0) {
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
  }
  unregister_temporary(temporary_);
}

void StagedDirectory::commit(std::string_view last, std::string_view parts) {
  if (comm_.rank() != 0) {
    unregister_temporary(temporary_);  // what is put in place now is rank 0's business
  }
  comm_.barrier();  // every rank has written its files
  committed_ = true;
  if (comm_.rank() != 0) {
    return;
  }
  move_into_place(temporary_, target_, last, parts);
}

}  // namespace tessera
