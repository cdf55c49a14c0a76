#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>

#include "archive/file_image.hpp"
#include "archive/gathered_file.hpp"
#include "archive/isolated.hpp"
#include "archive/isolated_gathered.hpp"
#include "datasets/proof_archive.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/proof_files.hpp"
#include "files/descriptor.hpp"
#include "files/new_directory.hpp"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

/// A file that is open for reading.
class Input {
 public:
  explicit Input(const fs::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (!descriptor_.is_open()) {
      throw InputError(path.string() + ": cannot be read: " + std::strerror(errno));
    }
  }

  /// `size` bytes from `offset` on.
  [[nodiscard]] Bytes read(std::uint64_t offset, std::uint64_t size) const {
    Bytes bytes(size);
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count =
          ::pread(descriptor_.number(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count <= 0) {
        throw InputError(path_.string() + ": expected " + std::to_string(offset + size) + " bytes, found " +
                         (count < 0 ? std::strerror(errno) : "fewer"));
      }
      done += static_cast<std::size_t>(count);
    }
    return bytes;
  }

 private:
  fs::path path_;
  Descriptor descriptor_;
};

std::vector<ProofFile> files_to_gather(const std::vector<std::string>& arguments) {
  std::vector<ProofFile> files = find_proof_files(arguments);
  std::map<std::string, std::string> paths;  // by name
  for (const ProofFile& file : files) {
    if (!file.problem.empty()) {
      throw InputError(file.path + ": " + file.problem);
    }
    if (!is_gathered_name(file.name)) {
      throw InputError(file.path + ": name: expected at most 1024 bytes of UTF-8 without control characters, found " +
                       quoted_name(file.name));
    }
    const auto [other, first] = paths.emplace(file.name, file.path);
    if (!first) {
      throw InputError(file.path + ": name: expected another one than that of " + other->second + ", found " +
                       quoted_name(file.name) + " again");
    }
  }
  if (files.size() > max_gathered_proofs) {
    throw InputError("expected at most " + std::to_string(max_gathered_proofs) + " files, found " +
                     std::to_string(files.size()));
  }
  return files;
}

std::uint64_t size_of(const ProofFile& file) {
  const std::uint64_t bytes = regular_file_size(file.path);
  if (bytes == 0 || bytes > max_proof_file_bytes) {
    throw InputError(file.path + ": size: expected a proof file of at most " + std::to_string(max_proof_file_bytes) +
                     " bytes, found " + std::to_string(bytes));
  }
  return bytes;
}

void gather(const GatherCommand& options) {
  const std::vector<ProofFile> files = files_to_gather(options.files);
  std::vector<std::string> names;
  std::vector<std::uint64_t> sizes;
  for (const ProofFile& file : files) {
    names.push_back(file.name);
    sizes.push_back(size_of(file));
  }
  GatheredWriter archive(options.out, names, sizes);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Bytes bytes = Input(files[i].path).read(0, sizes[i]);
    (void)load_proof_isolated(files[i].path, bytes);  // whether it is one; not whether it is true
    archive.append(bytes);
  }
  const Digest digest = archive.commit();
  std::printf("%s: %zu proofs, digest %s\n", one_line(options.out).c_str(), files.size(), to_hex(digest).c_str());
}

void extract(const GatherCommand& options) {
  const auto proofs = list_gathered_isolated(options.extract, true);
  if (!proofs) {
    throw InputError(options.extract + ": format: expected " + std::string(gathered_format) + ", found another");
  }
  const Input archive(options.extract);
  NewDirectory directory(options.out);
  for (const GatheredProof& proof : *proofs) {
    directory.write(proof.name, archive.read(proof.offset, proof.bytes));
  }
  directory.put_in_place();
  std::printf("%s: %zu proofs\n", one_line(options.out).c_str(), proofs->size());
}

}  // namespace

void run(const GatherCommand& options, Context& /*context*/) {
  options.extract.empty() ? gather(options) : extract(options);
}

}  // namespace tessera::cli
