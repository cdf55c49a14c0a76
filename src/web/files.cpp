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
    const ImageFile file = web::open(path.string(), renewal_format, max_key_file_bytes + max_proof_file_bytes);
    Renewal renewal{{}, IdentifiedKey::decode(read_key_bytes(file)), {}};
    renewal.payload = file.read_list<std::uint8_t>("payload", max_payload_bytes);
    const auto old_key = file.read_list<std::uint8_t>("old_key", sizeof(Digest));
    if (old_key.size() != sizeof(Digest)) {
      file.fail("old_key", std::to_string(sizeof(Digest)) + " bytes", std::to_string(old_key.size()));
    }
    std::copy(old_key.begin(), old_key.end(), renewal.old_key.begin());
    return renewal;
  });
}

}  // namespace tessera
