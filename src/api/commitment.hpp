#pragma once

#include <memory>

#include "archive/codeword_file.hpp"
#include "model/model.hpp"
#include "plan/key.hpp"

namespace tessera {

/// A committed model's key and codeword.
struct CommittedModel {
  VerifyingKey key;
  std::unique_ptr<StoredCodeword> codeword;
};

/// Opens a commitment directory and checks that it is this model's, that its parts belong together and that all ranks
/// see the same files; throws InputError naming what differs. Collective.
CommittedModel open_commitment(const std::filesystem::path& model_file, const Model& model,
                               const std::filesystem::path& directory, Communicator& comm);

}  // namespace tessera
