#include "archive/hiding_uses.hpp"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "archive/descriptor.hpp"
#include "archive/hiding_files.hpp"
#include "archive/key_file.hpp"
#include "base/errors.hpp"
#include "datasets/dataset_file.hpp"
#include "plan/key.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view title = "tessera hiding uses 1";
constexpr std::string_view title_of_secret = "tessera secret uses 1";
constexpr std::string_view advice =
    ": make a commitment with a new secret (commit without --secret) and publish its key";

fs::path uses_path(const fs::path& directory) { return directory / "uses"; }

Digest digest_of(const std::string& text) {
  return blake2s(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

std::string checked(const std::string& lines) { return lines + "check " + to_hex(digest_of(lines)) + "\n"; }

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw InputError(path.string() + ": " + why + std::string(advice));
}

std::uint64_t number_in(std::istream& stream, const fs::path& path, const std::string& name) {
  std::string word;
  std::uint64_t value = 0;
  if (!(stream >> word >> value) || word != name) {
    refuse(path, name + ": expected a number, found none: the count is damaged");
  }
  return value;
}

/// A count's lines up to its check, which holds.
std::istringstream read_checked(const fs::path& path, std::string_view first_line) {
  std::ifstream stream(path);
  if (!stream) {
    refuse(path,
           "expected how many proofs were begun, found no such file: a commitment whose count is lost must not be "
           "used");
  }
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (text.substr(0, text.find('\n')) != first_line) {
    refuse(path, "expected \"" + std::string(first_line) + "\", found another first line: the count is damaged");
  }
  const std::size_t check = text.rfind("check ");
  const std::string lines = text.substr(0, check);
  if (check != std::string::npos && text != checked(lines)) {
    refuse(path, "check: expected that of the lines above, found another: the count is damaged");
  }
  std::istringstream rest(text.substr(std::min(text.size(), first_line.size() + 1)));
  return rest;
}

/// `uses` of a directory: a key and its count after the directory's last proof.
struct DirectoryUses {
  std::string key;
  UseCount count;
  bool complete = false;
};

std::string lines_of(const std::string& key, const UseCount& count) {
  std::ostringstream text;
  text << title << "\nkey " << key << "\nproofs " << count.proofs << "\nused " << count.used << '\n';
  return text.str();
}

/// `key`: that is expected; none: any.
DirectoryUses load_directory(const fs::path& directory, const std::optional<Digest>& key) {
  const fs::path path = uses_path(directory);
  std::istringstream stream = read_checked(path, title);
  std::string word;
  DirectoryUses uses;
  if (!(stream >> word >> uses.key) || word != "key" || (key && uses.key != to_hex(*key))) {
    refuse(path,
           "key: expected " + (key ? to_hex(*key) : "one") + ", found another: the count is another commitment's");
  }
  uses.count.proofs = number_in(stream, path, "proofs");
  uses.count.used = number_in(stream, path, "used");
  if (!(stream >> word) || word != "check") {
    refuse(path, "check: expected that of the lines above, found none: the count is damaged");
  }
  return uses;
}

void save_directory(const fs::path& directory, const Digest& key, const UseCount& count) {
  write_private(uses_path(directory), checked(lines_of(to_hex(key), count)));
}

/// `<secret>.uses`: counts of all roots that were made from a secret.
struct SecretUses {
  fs::path file;
  std::map<std::string, UseCount> by_root;

  static fs::path beside(const fs::path& secret) { return secret.string() + ".uses"; }
  [[nodiscard]] fs::path secret() const { return file.parent_path() / file.stem(); }
};

/// Renaming keeps it, copying does not.
std::uint64_t file_number(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    refuse(file, "expected the secret whose uses are counted beside it, found no such file");
  }
  return status.st_ino;
}

std::string lines_of(const SecretUses& uses, std::uint64_t number) {
  std::ostringstream text;
  text << title_of_secret << "\nsecret " << number << '\n';
  for (const auto& [root, count] : uses.by_root) {
    text << "root " << root << " proofs " << count.proofs << " used " << count.used << '\n';
  }
  return text.str();
}

/// Where the uses of a secret are counted: the target of a link.
fs::path counted_at(const fs::path& secret) {
  const fs::path path = SecretUses::beside(fs::weakly_canonical(secret));
  std::error_code error;
  if (!fs::is_symlink(path, error)) {
    return path;
  }
  const fs::path target = fs::canonical(path, error);
  if (error) {
    refuse(path, "expected a link to how many proofs were begun, found no such file as " +
                     fs::read_symlink(path, error).string());
  }
  return target;
}

SecretUses load_secret_uses(const fs::path& file) {
  std::istringstream stream = read_checked(file, title_of_secret);
  SecretUses uses{file, {}};
  const std::uint64_t number = number_in(stream, file, "secret");
  std::string word, root;
  while (stream >> word && word == "root" && stream >> root) {
    UseCount& count = uses.by_root[root];
    count.proofs = number_in(stream, file, "proofs");
    count.used = number_in(stream, file, "used");
    if (count.used > count.proofs) {
      refuse(file, "used: expected at most " + std::to_string(count.proofs) + ", found " + std::to_string(count.used));
    }
  }
  if (word != "check") {
    refuse(file, "check: expected that of the lines above, found none: the count is damaged");
  }
  if (const std::uint64_t found = file_number(uses.secret()); found != number) {
    refuse(file, "secret: expected file number " + std::to_string(number) + ", found " + std::to_string(found) +
                     ": the secret and its count are copies, and their original may count for itself");
  }
  return uses;
}

void save_secret_uses(const SecretUses& uses) {
  write_private(uses.file, checked(lines_of(uses, file_number(uses.secret()))));
}

void lock(const Descriptor& file, const fs::path& path) {
  if (::flock(file.number(), LOCK_EX) != 0) {
    throw InputError(path.string() + ": cannot be locked: " + std::strerror(errno));
  }
}

/// A file of its own, which stays: what it is for is replaced when it changes.
class Lock {
 public:
  explicit Lock(const fs::path& path) : file_(path, O_RDWR | O_CREAT) { lock(file_, path); }

 private:
  Descriptor file_;
};

fs::path lock_of(const fs::path& uses) { return uses.string() + ".lock"; }

void require_writable(const fs::path& directory, const fs::path& what) {
  if (::access(directory.c_str(), W_OK) != 0) {
    throw InputError(what.string() + ": cannot be written: " + std::strerror(errno));
  }
}

/// The count beside the secret, and its entry of the key's root.
struct Counted {
  SecretUses uses;
  UseCount* count = nullptr;
};

Counted counted(const fs::path& directory, const CountedKey& key) {
  const UseCount own = load_directory(directory, key.digest).count;
  if (own.proofs != key.proofs || own.used > own.proofs) {
    refuse(uses_path(directory), "proofs: expected " + std::to_string(key.proofs) + ", found " +
                                     std::to_string(own.proofs) + ", " + std::to_string(own.used) + " used");
  }
  Counted result{load_secret_uses(counted_at(directory / "secret")), nullptr};
  const auto found = result.uses.by_root.find(to_hex(key.root));
  if (found == result.uses.by_root.end()) {
    refuse(result.uses.file, "root: expected " + to_hex(key.root) + ", found others alone: the count is lost");
  }
  result.count = &found->second;
  if (result.count->proofs != key.proofs || result.count->used < own.used) {
    refuse(result.uses.file, "used: expected " + std::to_string(own.used) + " or more of " +
                                 std::to_string(key.proofs) + " proofs, as " + uses_path(directory).string() +
                                 " says, found " + std::to_string(result.count->used) + " of " +
                                 std::to_string(result.count->proofs) + ": an older count was put back");
  }
  return result;
}

}  // namespace

CountedKey CountedKey::of(const VerifyingKey& key) { return {key.digest(), key.parameter_root, key.hiding_proofs}; }

UseCount load_uses(const fs::path& directory, const CountedKey& key) { return *counted(directory, key).count; }

void require_use_left(const fs::path& directory, const CountedKey& key) {
  if (load_uses(directory, key).left() == 0) {
    refuse(uses_path(directory), "used: expected less than " + std::to_string(key.proofs) + " proofs, found all begun");
  }
}

void reserve_use(const fs::path& directory, const CountedKey& key) {
  require_use_left(directory, key);  // named before a lock is made
  require_writable(directory, uses_path(directory));
  const fs::path beside_secret = counted_at(directory / "secret");
  require_writable(beside_secret.parent_path(), beside_secret);
  const Lock own(lock_of(uses_path(directory)));
  const Lock shared(lock_of(beside_secret));
  require_use_left(directory, key);
  Counted now = counted(directory, key);
  ++now.count->used;
  save_secret_uses(now.uses);
  save_directory(directory, key.digest, *now.count);
}

namespace {

/// Whether the directory was a commitment under this key.
bool is_key_of(const fs::path& directory, const CountedKey& key) {
  const fs::path path = directory / "verifying.key";
  try {
    return fs::exists(path) && load_key(path).digest() == key.digest;
  } catch (const InputError&) {
    return false;  // nobody has a key that is damaged
  }
}

/// Secrets have one name, so that there is one place beside them.
void require_one_name(const fs::path& secret) {
  struct stat status {};
  if (::stat(secret.c_str(), &status) == 0 && status.st_nlink > 1) {
    throw InputError(secret.string() + ": links: expected one name, found " + std::to_string(status.st_nlink) +
                     ": uses are counted beside a secret");
  }
}

}  // namespace

/// Of the directory first, then beside the secret, as reserve_use() takes them.
class CommitCount::Locks {
 public:
  Locks(const fs::path& target, const fs::path& beside_secret) {
    if (fs::is_directory(target)) {
      own_.emplace(lock_of(uses_path(target)));
    }
    if (!beside_secret.empty()) {
      shared_.emplace(lock_of(beside_secret));
    }
  }

 private:
  std::optional<Lock> own_, shared_;
};

CommitCount::CommitCount(fs::path secret, fs::path target) : secret_(std::move(secret)), target_(std::move(target)) {
  if (secret_.empty()) {
    return;
  }
  secret_ = fs::canonical(secret_);
  require_one_name(secret_);
  const fs::path beside_secret = counted_at(secret_);
  require_writable(beside_secret.parent_path(), beside_secret);
  if (fs::exists(beside_secret)) {
    (void)load_secret_uses(beside_secret);
  }
  if (fs::exists(target_ / "secret") || fs::exists(uses_path(target_))) {
    (void)load_directory(target_, std::nullopt);  // whatever it counts: it must be known
  }
}

CommitCount::~CommitCount() = default;

bool CommitCount::write(const fs::path& staged, const Digest& secret, const CountedKey& key) {
  locks_ = std::make_unique<Locks>(target_, secret_.empty() ? fs::path() : counted_at(secret_));
  UseCount count{key.proofs, 0};
  if (secret_.empty()) {
    save_secret(staged / "secret", secret);
    save_secret_uses({SecretUses::beside(fs::canonical(staged) / "secret"), {{to_hex(key.root), count}}});
    save_directory(staged, key.digest, count);
    return true;
  }
  SecretUses uses{counted_at(secret_), {}};
  if (fs::exists(uses.file)) {
    uses = load_secret_uses(uses.file);
  }
  std::uint64_t seen = 0;  // by what is in the directory now
  bool same = false;
  if (fs::exists(target_ / "secret") || fs::exists(uses_path(target_))) {
    const DirectoryUses before = load_directory(target_, std::nullopt);
    same = before.key == to_hex(key.digest);
    seen = same ? before.count.used : 0;
  }
  const auto [entry, fresh] = uses.by_root.try_emplace(to_hex(key.root), count);
  same = same || (fresh && is_key_of(target_, key));
  if ((fresh && same) || entry->second.proofs != key.proofs || entry->second.used < seen) {
    refuse(uses.file, "expected how many proofs of root " + to_hex(key.root) + " were begun, " + std::to_string(seen) +
                          " or more, found " + (fresh ? "none" : std::to_string(entry->second.used)) +
                          ": the count is lost");
  }
  if (fresh) {
    save_secret_uses(uses);
  }
  if (secret_ != fs::weakly_canonical(target_ / "secret")) {  // else it stays where it is
    save_secret(staged / "secret", secret);
    fs::create_symlink(uses.file, staged / "secret.uses");
  }
  save_directory(staged, key.digest, entry->second);
  return fresh;
}

}  // namespace tessera
