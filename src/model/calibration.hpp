#pragma once

#include <cstdint>
#include <span>
#include "model/float_model.hpp"
#include "model/model.hpp"
#include <vector>

namespace tessera {

/// Tokens of the default calibration text: sampled from the model itself from `first` on (see sample_sequences()).
std::vector<std::uint32_t> sample_calibration_tokens(const SingleTransformer& model, std::uint32_t first);

/// Largest activations over
/// - windows of n_positions tokens of the text (stride 3/4 of it, so that contexts begin at various tokens), which is
///   repeated where it is shorter; the first one goes on with filler up to the next power of two;
/// - beginnings of it one longer than half a power of two, followed by filler up to that power of two, as provers pad
///   them: n_positions rounded up, an eighth of it, and so on.
/// Throws InputError for an empty text.
Calibration calibrate(const SingleTransformer& model, std::span<const std::uint32_t> tokens, std::uint32_t filler,
                      const Progress& progress = nullptr);

/// The width of the gated product t of a Llama model: the least of 16, 20 and 24 bits with which rounding t is
/// tolerable.
std::uint32_t choose_product_bits(const FloatModel& model, const Calibration& calibration);

/// Largest exponents with which all activations (maxima * margin) and parameters fit int16, those of `widths` their
/// bits, lowered where a shift of the integer transformer needs it; see check_exponents. Throws InputError if there are
/// none.
Exponents choose_exponents(const FloatModel& model, const Calibration& calibration, const Widths& widths = {});

}  // namespace tessera
