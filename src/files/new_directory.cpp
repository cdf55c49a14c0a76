#include "files/new_directory.hpp"

#include "base/errors.hpp"
#include "base/text.hpp"
#include "files/staged_file.hpp"
#include "files/temporary.hpp"
#include "files/partial_directory.hpp"

namespace tessera {

namespace fs = std::filesystem;

NewDirectory::NewDirectory(const fs::path& target)
    : target_(through_links(target)), temporary_(temporary_beside(target_)) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(target_, error)) &&
      (!fs::is_directory(target_, error) || !fs::is_empty(target_, error))) {
    throw InputError(target_.string() + ": expected a new or an empty directory, found something else");
  }
  if (!make_partial_directory(temporary_, target_)) {
    unregister_temporary(temporary_);
    throw InputError(target_.string() + ": cannot be written: " + temporary_.string() + " is there");
  }
}

NewDirectory::~NewDirectory() {
  if (!temporary_.empty()) {
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
    unregister_temporary(temporary_);
  }
}

void NewDirectory::write(const std::string& name, std::span<const std::uint8_t> bytes) const {
  const fs::path path = temporary_ / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) {
    throw JobError(target_.string() + ": " + quoted_name(name) + " cannot be written: " + error.message());
  }
  write_file(path, bytes);
}

void NewDirectory::put_in_place() {
  const auto lock = hold_temporaries();
  std::error_code error;
  fs::rename(temporary_, target_, error);
  if (error) {
    throw JobError(target_.string() + ": cannot be completed: " + error.message());
  }
  unregister_temporary(temporary_);
  temporary_.clear();
}

}  // namespace tessera
