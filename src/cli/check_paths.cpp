#include "cli/check_paths.hpp"

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "files/staged_file.hpp"
#include "base/errors.hpp"
#include "cli/content.hpp"
#include "cli/proof_files.hpp"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

/// What a path leads to: a file's numbers, or those of the deepest directory that is there and the names below it.
/// Links, other relative paths, mounts of one file at two places: all have the same.
struct Identity {
  dev_t device = 0;
  ino_t number = 0;
  fs::path rest;  // what is not there yet
  bool operator==(const Identity&) const = default;
};

Identity identity_of(const std::string& text) {
  fs::path path = fs::absolute(through_links(text));
  fs::path rest;
  struct stat status {};
  while (::stat(path.c_str(), &status) != 0 && path.has_relative_path()) {
    rest = rest.empty() ? path.filename() : path.filename() / rest;
    path = path.parent_path();
  }
  return {status.st_dev, status.st_ino, rest.lexically_normal()};
}

bool fits(const Members& members, std::string_view name) {
  if (name.size() < members.begin.size() + members.end.size() || !name.starts_with(members.begin) ||
      !name.ends_with(members.end)) {
    return false;
  }
  name.remove_prefix(members.begin.size());
  name.remove_suffix(members.end.size());
  return members.digits == 0 ||
         (name.size() == members.digits && name.find_first_not_of("0123456789") == std::string_view::npos);
}

/// A file of an output directory that the command would replace.
struct Member {
  fs::path path;
  Content content;
  Identity identity;
};

std::vector<Member> members_in(const std::string& directory, const Target& target) {
  std::vector<Member> found;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    for (const Members& members : target.members) {
      if (fits(members, entry->path().filename().string())) {
        found.push_back({entry->path(), members.content, identity_of(entry->path().string())});
      }
    }
  }
  return found;
}

/// A path that an option names.
struct Named {
  std::string option, path;
  Identity identity;
  std::optional<Target> target = {};  // of an output
  std::vector<Member> members = {};   // of an output that is a directory

  [[nodiscard]] std::string text() const { return option + " " + path; }
  [[nodiscard]] bool is(Target::Form form) const { return target && target->form == form; }
};

/// Whether a file that is not there yet would be one that this directory gets.
bool would_be_in(const Named& directory, const Named& file) {
  const fs::path path = fs::absolute(through_links(file.path));
  return identity_of(path.parent_path().string()) == directory.identity &&
         std::ranges::any_of(directory.target->members,
                             [&](const Members& members) { return fits(members, path.filename().string()); });
}

void require_apart(const Named& output, const Named& other) {
  const bool both = output.is(Target::Form::directory) && other.is(Target::Form::directory);
  if (output.identity == other.identity && !both) {  // in one directory, outputs of several options have other names
    throw InputError(output.text() + ": expected another path than that of " + other.option + ", found the same" +
                     (output.path == other.path ? "" : " as " + other.path));
  }
  const auto same = std::ranges::find(output.members, other.identity, &Member::identity);
  if (same != output.members.end() || would_be_in(output, other)) {
    throw InputError(output.text() + ": expected a directory in which " + other.text() + " is not replaced, found " +
                     (same != output.members.end() ? "it as " + same->path.filename().string() : "its name taken"));
  }
}

void require_content(const std::string& what, const fs::path& file, Content content, Place place) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return;
  }
  if (const auto other = other_content(file, content, place)) {
    throw InputError(what + ": expected no file, or " + name_of(content) + ", found " + *other);
  }
}

bool is_below(const fs::path& directory, const Identity& file) {
  std::error_code error;
  constexpr auto option = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(directory, option, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (identity_of(entry->path().string()) == file) {
      return true;
    }
  }
  return false;
}

class Check {
 public:
  explicit Check(const PathOptions& paths) {
    for (const PathOptions::Entry& entry : paths.entries()) {
      for (const std::string& path : entry.option->results()) {
        add(entry, path);
      }
    }
  }

  void run() const {
    for (const Named& output : outputs_) {
      for (const Named& input : inputs_) {
        require_apart(output, input);
      }
      for (const Named& other : outputs_) {
        if (&other != &output) {
          require_apart(output, other);
        }
      }
    }
    for (const Named& output : outputs_) {
      if (output.is(Target::Form::file)) {
        check_file(output);
      } else {
        check_directory(output);
      }
    }
  }

 private:
  void add(const PathOptions::Entry& entry, const std::string& path) {
    Named named{entry.option->get_name(), path, identity_of(path)};
    if (entry.target) {
      named.target = entry.target();
      named.members = members_in(path, *named.target);
      outputs_.push_back(std::move(named));
    } else if (entry.input == PathOptions::Input::proofs) {
      for (const ProofFile& file : find_proof_files({path})) {
        inputs_.push_back({named.option, file.path, identity_of(file.path)});
      }
    } else {
      inputs_.push_back(std::move(named));
    }
  }

  void check_file(const Named& output) const {
    const Content content = output.target->content;
    const bool read = content == Content::log && std::ranges::any_of(inputs_, [&](const Named& input) {
                        return is_below(input.path, output.identity);
                      });
    require_content(output.text(), output.path, content, read ? Place::among_inputs : Place::anywhere);
    if (content != Content::log && content != Content::rates) {  // these need no temporary file, or make the folder
      const StagedFile writable(output.path);
    }
  }

  static void check_directory(const Named& output) {
    std::error_code error;
    const fs::path path = through_links(output.path);
    const bool exists = fs::exists(fs::symlink_status(path, error));
    if (output.is(Target::Form::new_directory) && exists &&
        (!fs::is_directory(path, error) || !fs::is_empty(path, error))) {
      throw InputError(output.text() + ": expected a new or an empty directory, found something else");
    }
    if (exists && !fs::is_directory(path, error)) {
      throw InputError(output.text() + ": expected a writable directory, found something else");
    }
    for (const Member& member : output.members) {
      require_content(output.option + " " + member.path.string(), member.path, member.content, Place::own_name);
    }
  }

  std::vector<Named> inputs_, outputs_;
};

}  // namespace

void check_paths(const PathOptions& paths) { Check(paths).run(); }

}  // namespace tessera::cli
