#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "archive/hiding_uses.hpp"

/// \file
/// The two files that hold counts: `uses` of a commitment directory and `<secret>.uses`. Each ends with a check of its
/// lines.

namespace tessera {

/// `uses` of a directory: a key and its count after the directory's last proof.
struct DirectoryUses {
  std::string key;
  UseCount count;
};

inline std::filesystem::path uses_path(const std::filesystem::path& directory) { return directory / "uses"; }
/// `key`: that is expected; none: any. Throws InputError, as all of these do, for a file that is missing, damaged or of
/// another key.
DirectoryUses load_directory_uses(const std::filesystem::path& directory, const std::optional<Digest>& key);
void save_directory_uses(const std::filesystem::path& directory, const Digest& key, const UseCount& count);

/// `<secret>.uses`: counts of all roots that were made from a secret.
struct SecretUses {
  std::filesystem::path file;
  std::map<std::string, UseCount> by_root;

  static std::filesystem::path beside(const std::filesystem::path& secret) { return secret.string() + ".uses"; }
  [[nodiscard]] std::filesystem::path secret() const { return file.parent_path() / file.stem(); }
};

/// Where the uses of a secret are counted: the target of a link.
std::filesystem::path counted_at(const std::filesystem::path& secret);
/// Throws InputError for a copy, too.
SecretUses load_secret_uses(const std::filesystem::path& file);
void save_secret_uses(const SecretUses& uses);

/// Throws InputError that says why a count cannot be used, and advises a new secret.
[[noreturn]] void refuse_count(const std::filesystem::path& path, const std::string& why);

}  // namespace tessera
