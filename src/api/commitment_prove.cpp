#include "api/commitment.hpp"

#include "archive/hdf5.hpp"
#include "archive/hiding_files.hpp"
#include "archive/key_file.hpp"
#include "archive/model_file.hpp"
#include "base/errors.hpp"
#include "cluster/agreement.hpp"
#include "integer_model/integer_model.hpp"

namespace tessera {
namespace {

void require_directory(const std::filesystem::path& directory) {
  std::error_code error;
  if (std::filesystem::is_regular_file(directory, error)) {
    const bool inside = directory.filename() == "verifying.key";
    throw InputError(directory.string() + ": expected a directory written by commit, found a file" +
                     (inside && directory.has_parent_path() ? ": it is in " + directory.parent_path().string() : ""));
  }
}

}  // namespace

CommittedModel open_commitment(const std::filesystem::path& model_file, const Model& model,
                               const std::filesystem::path& directory, Communicator& comm) {
  require_directory(directory);
  const std::filesystem::path key_path = directory / "verifying.key";
  CommittedModel committed{load_key(key_path), {}, nullptr, nullptr};
  const VerifyingKey& key = committed.key;
  const std::vector<std::uint8_t> encoded = key.encode();
  committed.key_digest = key_digest(encoded);
  require_agreement(comm, model_file.string(), ReadFile(model_file).digest());
  require_agreement(comm, key_path.string(), committed.key_digest);
  VerifyingKey expected = make_verifying_key(model, key.hiding_proofs);
  expected.parameter_root = key.parameter_root;
  expected.exceptions = key.exceptions;
  expected.parameter_oracle = key.parameter_oracle;  // of its commitment, whatever a new one would have
  if (expected.encode() != encoded) {
    throw InputError(key_path.string() + ": expected the key of " + model_file.string() + ", found another model's");
  }
  committed.codeword = open_codeword(directory, comm);
  const std::string codeword = (directory / "codeword.h5").string();
  if (committed.codeword->root() != key.parameter_root) {
    throw InputError(codeword + ": root: expected " + to_hex(key.parameter_root) + ", found " +
                     to_hex(committed.codeword->root()));
  }
  if (const Digest mine = parameters_digest(model_file); committed.codeword->parameters() != mine) {
    throw InputError(codeword + ": parameters_digest: expected " + to_hex(mine) + " of " + model_file.string() +
                     ", found " + to_hex(committed.codeword->parameters()) + " of another model");
  }
  if (key.hiding_proofs > 0) {
    committed.hiding = std::make_unique<HidingUse>(directory, key, committed.codeword->parameters(), comm);
  }
  return committed;
}

HidingUse::HidingUse(std::filesystem::path directory, const VerifyingKey& key, const Digest& parameters,
                     Communicator& comm)
    : directory_(std::move(directory)),
      key_(CountedKey::of(key)),
      secret_(commitment_seed(shared_secret(directory_, comm), parameters, key)),
      shape_(parameter_layout(key).tensors().back()),
      comm_(comm) {
  fail_together(comm, [&] {
    if (comm.rank() == 0) {
      require_use_left(directory_, key_);
    }
  });
}

HidingOptions HidingUse::options(Communicator& comm) const {
  return {[this] { return columns(); }, shared_seed(comm), [this, &comm] { reserve(comm); },
          [this] { columns_.reset(); }};
}

void HidingUse::reserve(Communicator& comm) const {
  fail_together(comm, [&] {
    if (comm.rank() == 0) {
      reserve_use(directory_, key_);
    }
  });
}

IntegerTensor HidingUse::columns() const {
  if (!columns_) {
    columns_ = random_columns(shape_, secret_.columns, comm_);
  }
  return &*columns_;
}

std::vector<IntegerTensor> HidingUse::with_columns(std::vector<IntegerTensor> parameters) const {
  parameters.push_back(columns());
  return parameters;
}

}  // namespace tessera
