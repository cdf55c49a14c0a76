#pragma once

#include <filesystem>

#include <tessera/archive.hpp>
#include <tessera/communicator.hpp>

namespace tessera {

/// A proving job: model file, directory written by `tessera commit`, prompt ids, tokens to generate; directories of the
/// state that is continued and of the one that is kept (empty: none).
struct ProveRequest {
  std::filesystem::path model;
  std::filesystem::path commitment;
  std::vector<std::uint32_t> prompt;
  std::size_t generate = 1;
  std::filesystem::path start = {};
  std::filesystem::path keep = {};
  std::uint32_t pass_length = 0;          // Statement::pass_length
  std::optional<Sampling> sampling = {};  // none: greedily
};

/// Generates, greedily or by sampling, and proves; every rank of the communicator takes part and gets the same proof,
/// which the first one has verified. Throws InputError for files that are unusable or do not belong together and for a
/// statement that the model cannot have, JobError if a value leaves its calibrated range or if the proof is rejected (a
/// commitment is damaged, a rank computes wrongly), on all ranks.
StoredProof prove(const ProveRequest& request, Communicator& comm);

}  // namespace tessera
