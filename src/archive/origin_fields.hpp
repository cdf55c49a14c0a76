#pragma once

#include "archive/hdf5.hpp"
#include "integer_model/model.hpp"

namespace tessera {

/// Below origin/, for a model that came from a checkpoint: format text, files texts, bytes uint64 (file), sha256 uint8
/// (file, 32), tensor_types texts, tensor_counts uint64 (type).
void write_origin(WriteFile& file, const Origin& origin);
/// Empty where the file says nothing. Throws InputError.
Origin read_origin(const ReadFile& file);

}  // namespace tessera
