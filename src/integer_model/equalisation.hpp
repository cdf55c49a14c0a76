#pragma once

#include "integer_model/model.hpp"

namespace tessera {

// One exponent a kind of tensor serves all channels of all blocks badly where some channels are thousands of times the
// others. What a channel is divided by where it is made, it can be multiplied by where it is read: the model computes
// the same, and a power of two changes no mantissa.

/// Chooses powers of two that bring the largest activation and the largest weight of every channel together, applies
/// them to `model` and to the calibration's maxima, whose channels are used up. Powers of a place have median 0. None
/// for GPT-2. `wide_product`: the gated product has bits enough, so that of its channels only those are raised that are
/// read by far smaller weights than others.
Equalisation equalise(FloatModel& model, Calibration& calibration, bool wide_product = false);

/// Moves the powers: what a place names first is divided by 2^power, what it names second multiplied. Exact but for
/// values that fall below 2^-126. Throws InputError for powers that are not the model's and for overflow, naming
/// parameter and index.
void apply_powers(FloatModel& model, const Equalisation& equalisation);

/// What takes the powers back.
Equalisation inverse(Equalisation equalisation);

/// The powers of no change.
Equalisation no_equalisation(const ModelShape& shape);

}  // namespace tessera
