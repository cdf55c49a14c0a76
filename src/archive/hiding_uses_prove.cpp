#include "archive/hiding_uses.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "files/descriptor.hpp"
#include "archive/hiding_count_files.hpp"
#include "archive/hiding_files.hpp"
#include "archive/key_file.hpp"
#include "base/errors.hpp"
#include "datasets/dataset_file.hpp"
#include "plan/key.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

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
  const UseCount own = load_directory_uses(directory, key.digest).count;
  if (own.proofs != key.proofs || own.used > own.proofs) {
    refuse_count(uses_path(directory), "proofs: expected " + std::to_string(key.proofs) + ", found " +
                                           std::to_string(own.proofs) + ", " + std::to_string(own.used) + " used");
  }
  Counted result{load_secret_uses(counted_at(directory / "secret")), nullptr};
  const auto found = result.uses.by_root.find(to_hex(key.root));
  if (found == result.uses.by_root.end()) {
    refuse_count(result.uses.file, "root: expected " + to_hex(key.root) + ", found others alone: the count is lost");
  }
  result.count = &found->second;
  if (result.count->proofs != key.proofs || result.count->used < own.used) {
    refuse_count(result.uses.file, "used: expected " + std::to_string(own.used) + " or more of " +
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
    refuse_count(uses_path(directory),
                 "used: expected less than " + std::to_string(key.proofs) + " proofs, found all begun");
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
  save_directory_uses(directory, key.digest, *now.count);
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

/// Locks a commitment's counts: the directory's first, then the one beside the secret, in the order of reserve_use().
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
    (void)load_directory_uses(target_, std::nullopt);  // whatever it counts: it must be known
  }
}

CommitCount::~CommitCount() = default;

bool CommitCount::write(const fs::path& staged, const Digest& secret, const CountedKey& key) {
  locks_ = std::make_unique<Locks>(target_, secret_.empty() ? fs::path() : counted_at(secret_));
  UseCount count{key.proofs, 0};
  if (secret_.empty()) {
    save_secret(staged / "secret", secret);
    save_secret_uses({SecretUses::beside(fs::canonical(staged) / "secret"), {{to_hex(key.root), count}}});
    save_directory_uses(staged, key.digest, count);
    return true;
  }
  SecretUses uses{counted_at(secret_), {}};
  if (fs::exists(uses.file)) {
    uses = load_secret_uses(uses.file);
  }
  std::uint64_t seen = 0;  // by what is in the directory now
  bool same = false;
  if (fs::exists(target_ / "secret") || fs::exists(uses_path(target_))) {
    const DirectoryUses before = load_directory_uses(target_, std::nullopt);
    same = before.key == to_hex(key.digest);
    seen = same ? before.count.used : 0;
  }
  const auto [entry, fresh] = uses.by_root.try_emplace(to_hex(key.root), count);
  same = same || (fresh && is_key_of(target_, key));
  if ((fresh && same) || entry->second.proofs != key.proofs || entry->second.used < seen) {
    refuse_count(uses.file, "expected how many proofs of root " + to_hex(key.root) + " were begun, " +
                                std::to_string(seen) + " or more, found " +
                                (fresh ? "none" : std::to_string(entry->second.used)) + ": the count is lost");
  }
  if (fresh) {
    save_secret_uses(uses);
  }
  if (secret_ != fs::weakly_canonical(target_ / "secret")) {  // else it stays where it is
    save_secret(staged / "secret", secret);
    fs::create_symlink(uses.file, staged / "secret.uses");
  }
  save_directory_uses(staged, key.digest, entry->second);
  return fresh;
}

}  // namespace tessera
