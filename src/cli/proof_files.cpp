#include "cli/proof_files.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

class Search {
 public:
  void add(const fs::path& argument) {
    std::error_code error;
    if (!fs::is_directory(argument, error)) {
      add_file(argument, argument.filename(), "");
      return;
    }
    const std::size_t before = seen_;
    add_directory(argument, argument);
    if (seen_ == before) {
      add_file(argument, {}, "expected proof files (*.h5) in it, found none");
    }
  }
  std::vector<ProofFile> take() { return std::move(files_); }

 private:
  void add_directory(const fs::path& directory, const fs::path& named) {
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator entry(directory, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      entries.push_back(*entry);
    }
    std::ranges::sort(entries, {}, [](const fs::directory_entry& entry) { return entry.path().filename().string(); });
    for (const fs::directory_entry& entry : entries) {
      std::error_code ignored;
      if (entry.symlink_status(ignored).type() == fs::file_type::directory) {
        add_directory(entry.path(), named);
      } else if (entry.path().extension() == ".h5") {
        add_file(entry.path(), entry.path().lexically_relative(named), "");
      }
    }
    if (error) {
      add_file(directory, {}, "cannot be searched: " + error.message());
    }
  }

  /// Adds a file unless it is there already. Two paths are one file if they have one name in one directory; links to a
  /// file are files of their own, as somebody put them there.
  void add_file(const fs::path& path, const fs::path& name, const std::string& problem) {
    ++seen_;
    std::error_code error;
    const fs::path directory = fs::weakly_canonical(path.has_parent_path() ? path.parent_path() : ".", error);
    if (names_.insert(error ? path : directory / path.filename()).second) {
      files_.push_back({path.string(), name.string(), problem});
    }
  }

  std::vector<ProofFile> files_;
  std::set<fs::path> names_;
  std::size_t seen_ = 0;
};

}  // namespace

std::vector<ProofFile> find_proof_files(const std::vector<std::string>& arguments) {
  Search search;
  for (const std::string& argument : arguments) {
    search.add(argument);
  }
  return search.take();
}

}  // namespace tessera::cli
