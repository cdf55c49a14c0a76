#include "archive/hiding_count_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/errors.hpp"
#include "datasets/dataset_file.hpp"
#include "files/private_file.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view title = "tessera hiding uses 1";
constexpr std::string_view title_of_secret = "tessera secret uses 1";
constexpr std::string_view advice =
    ": make a commitment with a new secret (commit without --secret) and publish its key";

Digest digest_of(const std::string& text) {
  return blake2s(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

std::string checked(const std::string& lines) { return lines + "check " + to_hex(digest_of(lines)) + "\n"; }

std::uint64_t number_in(std::istream& stream, const fs::path& path, const std::string& name) {
  std::string word;
  std::uint64_t value = 0;
  if (!(stream >> word >> value) || word != name) {
    refuse_count(path, name + ": expected a number, found none: the count is damaged");
  }
  return value;
}

/// A count's lines up to its check, which holds.
std::istringstream read_checked(const fs::path& path, std::string_view first_line) {
  std::ifstream stream(path);
  if (!stream) {
    refuse_count(
        path,
        "expected how many proofs were begun, found no such file: a commitment whose count is lost must not be "
        "used");
  }
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (text.substr(0, text.find('\n')) != first_line) {
    refuse_count(path, "expected \"" + std::string(first_line) + "\", found another first line: the count is damaged");
  }
  const std::size_t check = text.rfind("check ");
  const std::string lines = text.substr(0, check);
  if (check != std::string::npos && text != checked(lines)) {
    refuse_count(path, "check: expected that of the lines above, found another: the count is damaged");
  }
  std::istringstream rest(text.substr(std::min(text.size(), first_line.size() + 1)));
  return rest;
}

std::string lines_of(const std::string& key, const UseCount& count) {
  std::ostringstream text;
  text << title << "\nkey " << key << "\nproofs " << count.proofs << "\nused " << count.used << '\n';
  return text.str();
}

/// What a file keeps when it is renamed and what no copy of it has.
struct FileIdentity {
  std::uint64_t number;
  std::uint64_t born;  ///< ns; 0 where the file system does not know. Numbers are unique within one file system alone
};

FileIdentity identity_of(const fs::path& file) {
  struct statx status {};
  if (::statx(AT_FDCWD, file.c_str(), 0, STATX_INO | STATX_BTIME, &status) != 0) {
    refuse_count(file, "expected the secret whose uses are counted beside it, found no such file");
  }
  const bool known = (status.stx_mask & STATX_BTIME) != 0;
  const auto seconds = static_cast<std::uint64_t>(status.stx_btime.tv_sec);
  return {status.stx_ino, known ? seconds * 1'000'000'000 + status.stx_btime.tv_nsec : 0};
}

std::string lines_of(const SecretUses& uses, const FileIdentity& secret) {
  std::ostringstream text;
  text << title_of_secret << "\nsecret " << secret.number << "\nborn " << secret.born << '\n';
  for (const auto& [root, count] : uses.by_root) {
    text << "root " << root << " proofs " << count.proofs << " used " << count.used << '\n';
  }
  return text.str();
}

void refuse_copy(const fs::path& file, const std::string& field, std::uint64_t expected, std::uint64_t found) {
  refuse_count(file, "secret: expected " + field + " " + std::to_string(expected) + ", found " + std::to_string(found) +
                         ": the secret and its count are copies (restored, or moved to another file system), and their "
                         "original may count for itself: use that one where it is, or commit with --secret of it where "
                         "you want it; if it is gone");
}

}  // namespace

void refuse_count(const fs::path& path, const std::string& why) {
  throw InputError(path.string() + ": " + why + std::string(advice));
}

DirectoryUses load_directory_uses(const fs::path& directory, const std::optional<Digest>& key) {
  const fs::path path = uses_path(directory);
  std::istringstream stream = read_checked(path, title);
  std::string word;
  DirectoryUses uses;
  if (!(stream >> word >> uses.key) || word != "key" || (key && uses.key != to_hex(*key))) {
    refuse_count(
        path, "key: expected " + (key ? to_hex(*key) : "one") + ", found another: the count is another commitment's");
  }
  uses.count.proofs = number_in(stream, path, "proofs");
  uses.count.used = number_in(stream, path, "used");
  if (!(stream >> word) || word != "check") {
    refuse_count(path, "check: expected that of the lines above, found none: the count is damaged");
  }
  return uses;
}

void save_directory_uses(const fs::path& directory, const Digest& key, const UseCount& count) {
  write_private(uses_path(directory), checked(lines_of(to_hex(key), count)));
}

fs::path counted_at(const fs::path& secret) {
  const fs::path path = SecretUses::beside(fs::weakly_canonical(secret));
  std::error_code error;
  if (!fs::is_symlink(path, error)) {
    return path;
  }
  const fs::path target = fs::canonical(path, error);
  if (error) {
    const std::string kept = fs::read_symlink(path, error).string();
    refuse_count(path,
                 "expected a link to how many proofs were begun, found no such file as " + kept +
                     ": put it and its secret back there if they were renamed or their file system is away; if they "
                     "are gone");
  }
  return target;
}

SecretUses load_secret_uses(const fs::path& file) {
  std::istringstream stream = read_checked(file, title_of_secret);
  SecretUses uses{file, {}};
  const std::uint64_t number = number_in(stream, file, "secret");
  // counts that were written before births were have none
  const std::uint64_t born = (stream >> std::ws).peek() == 'b' ? number_in(stream, file, "born") : 0;
  std::string word, root;
  while (stream >> word && word == "root" && stream >> root) {
    UseCount& count = uses.by_root[root];
    count.proofs = number_in(stream, file, "proofs");
    count.used = number_in(stream, file, "used");
    if (count.used > count.proofs) {
      refuse_count(file,
                   "used: expected at most " + std::to_string(count.proofs) + ", found " + std::to_string(count.used));
    }
  }
  if (word != "check") {
    refuse_count(file, "check: expected that of the lines above, found none: the count is damaged");
  }
  const FileIdentity found = identity_of(uses.secret());
  if (found.number != number) {
    refuse_copy(file, "file number", number, found.number);
  }
  if (found.born != born && found.born != 0 && born != 0) {
    refuse_copy(file, "a file born at", born, found.born);
  }
  return uses;
}

void save_secret_uses(const SecretUses& uses) {
  write_private(uses.file, checked(lines_of(uses, identity_of(uses.secret()))));
}

}  // namespace tessera
