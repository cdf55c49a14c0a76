#pragma once

#include <filesystem>
#include <optional>
#include "archive/hdf5.hpp"
#include "integer_model/model.hpp"
#include "transcript/transcript.hpp"

namespace tessera {

inline constexpr std::string_view model_format = "tessera model";

/// Writes a model file:
///   shape/{n_layer,...} uint64, layer_norm_epsilon float64, exponents/<name> int32, where there are soft caps
///   score_cap and logit_cap float64,
///   calibration/margin float64, calibration/maxima/<kind> float64,
///   parameters/<name> int16: (block, out, in), (block, feature) or (row, feature) as in parameter_table(),
///   tokenizer/vocabulary/{bytes,lengths}, tokenizer/merges uint32 (n, 2), tokenizer/end_of_text uint32, and what
///   write_tokenizer_fields() adds, and what write_origin() does.
class ModelWriter {
 public:
  /// Throws InputError if the target cannot be written there.
  explicit ModelWriter(const std::filesystem::path& path);
  /// Returns the file's digest.
  Digest commit(const Model& model);

 private:
  WriteFile file_;
};

/// Writes a whole model file; returns the file's digest.
Digest save_model(const std::filesystem::path& path, const Model& model);

/// Reads everything; of the parameters, the rows that `rank` keeps. Throws
/// InputError; shape, exponents and sizes are in the supported ranges. Every digest is checked by some rank.
Model load_model(const std::filesystem::path& path, int rank = 0, const Division& division = {});
/// Digest of names, extents and values of the quantized parameters, from the digests of their datasets: the same
/// whatever else the file holds. Whoever loads the model checks those.
Digest parameters_digest(const std::filesystem::path& path);

}  // namespace tessera
