#include "web/files.hpp"

#include <map>

#include "archive/isolated.hpp"
#include "archive/naming.hpp"
#include "archive/renewal_file.hpp"
#include "datasets/image_file.hpp"
#include "datasets/key_archive.hpp"
#include "datasets/proof_archive.hpp"

namespace tessera {
namespace web {
namespace {

std::map<std::string, std::vector<std::uint8_t>>& files() {
  static std::map<std::string, std::vector<std::uint8_t>> all;
  return all;
}

ImageFile open(const std::string& name, std::string_view format, std::uint64_t max_bytes) {
  const auto found = files().find(name);
  if (found == files().end()) {
    throw InputError(name + ": expected a file, found nothing");
  }
  return {name, found->second, format, max_bytes};
}

}  // namespace

void add_file(const std::string& name, std::vector<std::uint8_t> bytes) { files()[name] = std::move(bytes); }
void clear_files() { files().clear(); }

}  // namespace web

IdentifiedKey load_key_isolated(const std::filesystem::path& path) {
  return naming(path, [&] {
    return IdentifiedKey::decode(read_key_bytes(web::open(path.string(), key_format, max_key_file_bytes)));
  });
}

StoredProof load_proof_isolated(const std::filesystem::path& path) {
  return naming(path, [&] {
    ProofArchive proof = read_proof(web::open(path.string(), proof_format, max_proof_file_bytes));
    return StoredProof{std::move(proof.statement), std::move(proof.payload), proof.key_digest};
  });
}

Renewal load_renewal_isolated(const std::filesystem::path& path) {
  return naming(path, [&] {
    StoredRenewal stored = read_renewal(web::open(path.string(), renewal_format, max_renewal_file_bytes));
    return Renewal{stored.old_key, IdentifiedKey::decode(stored.key), std::move(stored.payload)};
  });
}

}  // namespace tessera
