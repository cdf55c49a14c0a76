#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/argument_kind.hpp"
#include "cli/cli11.hpp"

namespace tessera::cli {

/// What a file holds that a command writes.
enum class Content : std::uint8_t {
  model,
  key,
  codeword,
  codeword_rows,
  proof,
  proofs,
  renewal,
  state,
  state_rows,
  trace,
  checkpoint,
  page,
  rates,
  ids,
  log
};

/// Files of a directory that a command writes: those whose names begin and end so, with as many digits between, if they
/// are counted.
struct Members {
  std::string_view begin, end;
  Content content;
  std::size_t digits = 0;
};

/// What a command makes of a path.
struct Target {
  enum class Form : std::uint8_t { file, directory, new_directory };
  Form form = Form::file;
  Content content = Content::model;       // of a file
  std::span<const Members> members = {};  // of a directory that may be there already
};

/// The options that name files and directories, and what is done with these: all of a program's are declared through
/// this. An empty path is refused where options are read.
class PathOptions {
 public:
  enum class Input : std::uint8_t {
    path,   // a file or a directory, which one process of a job reads
    named,  // likewise, but its name counts: all ranks read it, or the HDF5 library, or something stands beside it
    proofs  // files, and directories for every *.h5 in and below them
  };
  struct Entry {
    const CLI::Option* option;
    Input input = Input::path;
    std::function<Target()> target = {};  // of what is written, as the other options have it; empty: it is read
    bool takes_dash = false;
  };

  /// A file that one process reads may be `-`, standard input: the option's value becomes its path.
  CLI::Option* reads(CLI::Option* option, const char* type = file_argument);
  CLI::Option* reads_by_name(CLI::Option* option, const char* type = file_argument);
  CLI::Option* reads_proofs(CLI::Option* option);
  CLI::Option* writes(CLI::Option* option, Content content);
  CLI::Option* writes(CLI::Option* option, std::span<const Members> members);
  CLI::Option* writes(CLI::Option* option, std::function<Target()> target);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  CLI::Option* add(Entry entry, CLI::Option* option, const char* type);
  std::vector<Entry> entries_;
};

/// What an option's value is where it was `-`.
inline constexpr const char* standard_input = "/dev/stdin";

/// If a file to read is `-`: takes all of standard input and makes it a file that can be read from its beginning, any
/// number of times. Throws InputError where it is wanted twice or cannot be read.
void keep_standard_input(const PathOptions& paths);

}  // namespace tessera::cli
