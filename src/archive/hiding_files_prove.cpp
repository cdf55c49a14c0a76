#include "archive/hiding_files.hpp"

#include <fcntl.h>
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

#include "base/errors.hpp"
#include "cluster/agreement.hpp"
#include "files/descriptor.hpp"
#include "files/private_file.hpp"
#include "hash/keyed_stream.hpp"
#include "plan/key.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr mode_t others = 077;
mode_t usual_mask = others;  // of this process before it was made private

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

Digest commitment_seed(const Digest& secret, const Digest& parameters, const VerifyingKey& key) {
  VerifyingKey rootless = key;
  rootless.parameter_root = {};
  const Digest key_digest = rootless.digest();
  constexpr std::string_view name = "tessera hiding secret";
  std::vector<std::uint8_t> message(name.begin(), name.end());
  for (const Digest* part : {&secret, &parameters, &key_digest}) {
    message.insert(message.end(), part->begin(), part->end());
  }
  return blake2s(message);
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
  if (const mode_t before = ::umask(others); before != others) {  // else it is called again
    usual_mask = before;
  }
}

void make_public(const fs::path& file) {
  constexpr mode_t everybody = 0666;
  if (::chmod(file.c_str(), everybody & ~usual_mask) != 0) {
    throw JobError(file.string() + ": mode cannot be set: " + std::strerror(errno));
  }
}

}  // namespace tessera
