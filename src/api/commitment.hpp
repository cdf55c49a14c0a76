#pragma once

#include <memory>
#include <optional>

#include "archive/codeword_file.hpp"
#include "archive/hiding_uses.hpp"
#include "integer_model/model.hpp"
#include "plan/hiding_witness.hpp"
#include "plan/key.hpp"
#include "protocol/protocol.hpp"

namespace tessera {

/// What a proof under a hiding key takes from its commitment.
class HidingUse {
 public:
  /// Throws InputError if there is no use left, secret or count that is this key's. Collective.
  /// `parameters`: digest of those that are committed; `comm` must outlive this.
  HidingUse(std::filesystem::path directory, const VerifyingKey& key, const Digest& parameters, Communicator& comm);
  /// What one proof takes of the commitment, with a new seed of its own, equal on all ranks. Collective.
  [[nodiscard]] HidingOptions options(Communicator& comm) const;
  /// Takes a use. Collective.
  void reserve(Communicator& comm) const;
  /// The parameters' random columns, made when they are first asked for.
  [[nodiscard]] IntegerTensor columns() const;
  [[nodiscard]] std::vector<IntegerTensor> with_columns(std::vector<IntegerTensor> parameters) const;
  [[nodiscard]] std::shared_ptr<const KeyedStream> salt() const { return secret_.salt; }

 private:
  std::filesystem::path directory_;
  CountedKey key_;
  HidingSecret secret_;
  Shape shape_;  // of the columns
  const Communicator& comm_;
  mutable std::optional<ChunkedTensor<std::int64_t>> columns_;
};

/// A committed model's key and codeword.
struct CommittedModel {
  VerifyingKey key;
  Digest key_digest;  // of the key: computing it takes what reading the key does
  std::unique_ptr<StoredCodeword> codeword;
  std::unique_ptr<HidingUse> hiding;  // of a hiding key
};

/// Opens a commitment directory and checks that it is this model's, that its parts belong together and that all ranks
/// see the same files; throws InputError naming what differs. Collective.
CommittedModel open_commitment(const std::filesystem::path& model_file, const Model& model,
                               const std::filesystem::path& directory, Communicator& comm);

}  // namespace tessera
