#include "archive/hiding_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "datasets/dataset_file.hpp"
#include "archive/temporary.hpp"
#include "base/errors.hpp"
#include "base/little_endian.hpp"
#include "cluster/agreement.hpp"
#include "hash/keyed_stream.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr mode_t owner_only = 0600;
constexpr mode_t others = 077;
mode_t usual_mask = others;  // of this process before it was made private

/// A descriptor that is closed.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, owner_only)) {
    if (number_ < 0) {
      throw InputError(path.string() + ": " + std::strerror(errno));
    }
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// Writes a small file of its owner's: synced, then put in place.
void write_private(const fs::path& path, std::string_view content) {
  const fs::path temporary = temporary_beside(path);
  register_temporary(temporary);
  {
    const Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (::write(file.number(), content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
        ::fsync(file.number()) != 0) {
      const std::string why = std::strerror(errno);
      ::unlink(temporary.c_str());
      throw JobError(path.string() + ": cannot be written: " + why);
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    throw JobError(path.string() + ": cannot be written: " + std::strerror(errno));
  }
  unregister_temporary(temporary);
  const Descriptor folder(path.parent_path(), O_RDONLY | O_DIRECTORY);
  if (::fsync(folder.number()) != 0) {
    throw JobError(path.string() + ": cannot be synced: " + std::strerror(errno));
  }
}

constexpr std::string_view title = "tessera hiding uses 1";

std::string lines_of(const UseCount& uses) {
  std::ostringstream text;
  text << title << "\nkey " << to_hex(uses.key) << "\nproofs " << uses.proofs << "\nused " << uses.used << '\n';
  return text.str();
}

Digest digest_of(const std::string& text) {
  return blake2s(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

fs::path uses_path(const fs::path& directory) { return directory / "uses"; }

std::uint64_t number_in(std::istream& stream, const fs::path& path, const std::string& name) {
  std::string word;
  std::uint64_t value = 0;
  if (!(stream >> word >> value) || word != name) {
    throw InputError(path.string() + ": " + name + ": expected a number, found none: the count is damaged");
  }
  return value;
}

}  // namespace

Digest load_secret(const fs::path& path) {
  const Descriptor file(path, O_RDONLY);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw InputError(path.string() + ": expected a regular file");
  }
  if ((status.st_mode & others) != 0) {
    std::ostringstream mode;
    mode << std::oct << (status.st_mode & 0777U);
    throw InputError(path.string() + ": mode: expected one that only its owner can read (600), found " + mode.str());
  }
  std::array<std::uint8_t, sizeof(Digest) + 1> bytes{};
  const ssize_t length = ::read(file.number(), bytes.data(), bytes.size());
  if (length != static_cast<ssize_t>(sizeof(Digest))) {
    throw InputError(path.string() + ": length: expected 32 bytes, found " +
                     (length > static_cast<ssize_t>(sizeof(Digest)) ? "more" : std::to_string(length)));
  }
  Digest secret;
  std::copy_n(bytes.begin(), secret.size(), secret.begin());
  return secret;
}

void save_secret(const fs::path& path, const Digest& secret) {
  write_private(path, {reinterpret_cast<const char*>(secret.data()), secret.size()});
}

Digest commitment_seed(const Digest& secret, const Digest& parameters, std::uint64_t proofs) {
  constexpr std::string_view name = "tessera hiding secret";
  std::vector<std::uint8_t> message(name.begin(), name.end());
  message.insert(message.end(), secret.begin(), secret.end());
  message.insert(message.end(), parameters.begin(), parameters.end());
  append_little_endian(message, proofs);
  return blake2s(message);
}

UseCount load_uses(const fs::path& directory, const Digest& key, std::uint64_t proofs) {
  const fs::path path = uses_path(directory);
  std::ifstream stream(path);
  if (!stream) {
    throw InputError(path.string() + ": expected how many proofs were begun, found no such file: a commitment whose " +
                     "count is lost must not be used");
  }
  std::string first, word, name;
  std::getline(stream, first);
  if (first != title) {
    throw InputError(path.string() + ": expected \"" + std::string(title) + "\", found another first line");
  }
  if (!(stream >> word >> name) || word != "key" || name != to_hex(key)) {
    throw InputError(path.string() + ": key: expected " + to_hex(key) +
                     ", found another: the count is another commitment's");
  }
  UseCount uses{key, 0, 0};
  uses.proofs = number_in(stream, path, "proofs");
  uses.used = number_in(stream, path, "used");
  if (!(stream >> word >> name) || word != "check" || name != to_hex(digest_of(lines_of(uses)))) {
    throw InputError(path.string() + ": check: expected that of the lines above, found another: the count is damaged");
  }
  if (uses.proofs != proofs || uses.used > uses.proofs) {
    throw InputError(path.string() + ": proofs: expected " + std::to_string(proofs) + ", found " +
                     std::to_string(uses.proofs) + ", " + std::to_string(uses.used) + " used");
  }
  return uses;
}

void save_uses(const fs::path& directory, const UseCount& uses) {
  const std::string lines = lines_of(uses);
  write_private(uses_path(directory), lines + "check " + to_hex(digest_of(lines)) + "\n");
}

void require_use_left(const fs::path& directory, const Digest& key, std::uint64_t proofs) {
  if (load_uses(directory, key, proofs).left() == 0) {
    throw InputError(uses_path(directory).string() + ": used: expected less than " + std::to_string(proofs) +
                     " proofs, found all begun: commit again");
  }
}

void reserve_use(const fs::path& directory, const Digest& key, std::uint64_t proofs) {
  require_use_left(directory, key, proofs);  // named before a lock is made
  const Descriptor lock(directory / "uses.lock", O_RDWR | O_CREAT);
  if (::flock(lock.number(), LOCK_EX) != 0) {
    throw InputError((directory / "uses.lock").string() + ": cannot be locked: " + std::strerror(errno));
  }
  require_use_left(directory, key, proofs);
  UseCount uses = load_uses(directory, key, proofs);
  ++uses.used;
  save_uses(directory, uses);
}

Digest shared_secret(const fs::path& directory, Communicator& comm) {
  Digest secret{};
  fail_together(comm, [&] {
    if (comm.rank() == 0) {
      secret = load_secret(directory / "secret");
    }
  });
  return comm.all_gather(std::span<const Digest>(&secret, 1)).front();
}

Digest shared_seed(Communicator& comm) {
  Digest seed{};
  fail_together(comm, [&] {
    if (comm.rank() == 0) {
      seed = random_seed();
    }
  });
  return comm.all_gather(std::span<const Digest>(&seed, 1)).front();
}

void keep_process_private() {
  const rlimit none{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &none);
  (void)::prctl(PR_SET_DUMPABLE, 0);
  usual_mask = ::umask(others);
}

void make_public(const fs::path& file) {
  constexpr mode_t everybody = 0666;
  if (::chmod(file.c_str(), everybody & ~usual_mask) != 0) {
    throw JobError(file.string() + ": mode cannot be set: " + std::strerror(errno));
  }
}

void wipe_file(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return;
  }
  const auto require = [&](bool good) {
    if (!good) {
      throw JobError(path.string() + ": cannot be wiped: " + std::strerror(errno));
    }
  };
  const Descriptor file(path, O_WRONLY);
  struct stat status {};
  require(::fstat(file.number(), &status) == 0);
  const std::vector<char> zeros(std::size_t{1} << 20);
  for (off_t done = 0; done < status.st_size;) {
    const auto rest = static_cast<std::size_t>(status.st_size - done);
    const ssize_t count = ::write(file.number(), zeros.data(), std::min(rest, zeros.size()));
    require(count > 0);
    done += count;
  }
  require(::fsync(file.number()) == 0);
  require(::unlink(path.c_str()) == 0);
}

}  // namespace tessera
