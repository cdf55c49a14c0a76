#pragma once

#include <cstdint>
#include <span>
#include "float_model/battery.hpp"
#include "float_model/float_model.hpp"
#include "checkpoints/trained_model.hpp"
#include <vector>

namespace tessera {

/// Calibration record: largest absolute value seen of each kind of tensor, and the margin used. No maxima if the
/// exponents were given. `channels`: the same of single channels (ChannelMaxima), for equalisation, not kept in files.
struct Calibration {
  std::map<std::string, double> maxima;
  double margin = 1.25;
  std::map<std::string, std::vector<double>> channels;
};

/// Tokens of the default calibration text: sampled from the model itself, every other sequence from `first` on, the
/// others from one of `starts` each (see sample_sequences()).
std::vector<std::uint32_t> sample_calibration_tokens(const SingleTransformer& model, std::uint32_t first,
                                                     std::span<const std::uint32_t> starts = {});

/// Largest activations over
/// - windows of n_positions tokens of the text (stride 3/4 of it, so that contexts begin at various tokens), which is
///   repeated where it is shorter; the first one goes on with filler up to the next power of two;
/// - beginnings of it one longer than half a power of two, followed by filler up to that power of two, as provers pad
///   them: n_positions rounded up, an eighth of it, and so on;
/// - the sequences of `battery`, of 1 to n_positions tokens each,
/// rounded up to 11 bits. The same bits for any number of threads and on any processor with fused multiply-add.
/// Throws InputError for an empty text.
Calibration calibrate(const SingleTransformer& model, std::span<const std::uint32_t> tokens, std::uint32_t filler,
                      std::span<const TokenSequence> battery = {}, const Progress& progress = nullptr);

/// The width of the gated product t of a Llama model: 16 bits if rounding t is tolerable with them, else 28, which cost
/// a look-up more each.
std::uint32_t choose_product_bits(const FloatModel& model, const Calibration& calibration);

/// The widths of a Llama model beside that one: wider than 16 bits where rounding would show in the divergence, and the
/// finest inverse of norms with which the model keeps its epsilon.
Widths choose_widths(const FloatModel& model, const Calibration& calibration, std::uint32_t product_bits);

/// Largest exponents with which all activations (maxima * margin) and parameters fit int16, those of `widths` their
/// bits, lowered where a shift of the integer transformer needs it; see check_exponents. Throws InputError if there are
/// none.
Exponents choose_exponents(const FloatModel& model, const Calibration& calibration, const Widths& widths = {});

}  // namespace tessera
