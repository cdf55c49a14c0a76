#include "files/partial_directory.hpp"

#include "base/errors.hpp"
#include "files/temporary.hpp"

namespace tessera {

namespace fs = std::filesystem;

bool make_partial_directory(const fs::path& temporary, const fs::path& target) {
  std::error_code error;
  remove_stale_beside(target);
  register_temporary(temporary);
  const bool made = fs::create_directories(temporary, error);
  if (error) {
    unregister_temporary(temporary);
    throw InputError(target.string() + ": cannot be written: " + error.message());
  }
  return made;
}

void move_into_place(const fs::path& temporary, const fs::path& target, std::string_view last, std::string_view parts) {
  const auto lock = hold_temporaries();
  try {
    fs::create_directories(target);
    fs::remove(target / last);  // an older complete directory is incomplete from here on
    for (const fs::directory_entry& entry : fs::directory_iterator(target)) {
      if (entry.path().filename().string().starts_with(parts)) {
        fs::remove(entry.path());
      }
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(temporary)) {
      if (entry.path().filename() != last) {
        fs::rename(entry.path(), target / entry.path().filename());
      }
    }
    fs::rename(temporary / last, target / last);
    fs::remove(temporary);
    unregister_temporary(temporary);
  } catch (const fs::filesystem_error& error) {
    throw JobError(target.string() + ": cannot be completed: " + error.code().message());
  }
}

}  // namespace tessera
