#include "archive/staged_directory.hpp"

#include <unistd.h>

#include "base/errors.hpp"
#include "archive/staged_file.hpp"
#include "archive/temporary.hpp"
#include "cluster/serialization.hpp"

namespace tessera {

namespace fs = std::filesystem;

StagedDirectory::StagedDirectory(const fs::path& target, Communicator& comm)
    : target_(through_links(target)), comm_(comm) {
  std::string name = temporary_beside(target_).string();
  broadcast_object(comm_, name);
  temporary_ = name;
  if (comm_.rank() == 0) {
    std::error_code error;
    const fs::file_status status = fs::status(target_);
    if (fs::exists(status) && (!fs::is_directory(status) || ::access(target_.c_str(), W_OK) != 0)) {
      throw InputError(target_.string() + ": expected a writable directory, found something else");
    }
    remove_stale_beside(target_);
    register_temporary(temporary_);
    fs::create_directories(temporary_, error);
    if (error) {
      unregister_temporary(temporary_);
      throw InputError(target_.string() + ": cannot be written: " + error.message());
    }
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
  const auto lock = hold_temporaries();
  try {
    fs::create_directories(target_);
    fs::remove(target_ / last);  // an older complete directory is incomplete from here on
    for (const fs::directory_entry& entry : fs::directory_iterator(target_)) {
      if (entry.path().filename().string().starts_with(parts)) {
        fs::remove(entry.path());
      }
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(temporary_)) {
      if (entry.path().filename() != last) {
        fs::rename(entry.path(), target_ / entry.path().filename());
      }
    }
    fs::rename(temporary_ / last, target_ / last);
    fs::remove(temporary_);
    unregister_temporary(temporary_);
  } catch (const fs::filesystem_error& error) {
    throw JobError(target_.string() + ": cannot be completed: " + error.code().message());
  }
}

}  // namespace tessera
