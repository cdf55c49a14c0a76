#pragma once

#include "checkpoints/checkpoint_files.hpp"
#include "checkpoints/trained_model.hpp"

namespace tessera {

/// Reads the files of a checkpoint in whole for their digests. Throws InputError.
Origin origin_of(const CheckpointFiles& files);

}  // namespace tessera
