#include <algorithm>
#include <bit>
#include "base/errors.hpp"
#include "model/calibration.hpp"

namespace tessera {
namespace {

// Sampling costs a pass over the weights a step: many sequences side by side, and long ones where that is cheap. The
// largest value of a tensor shows soon; equalising needs that of every channel.
constexpr std::size_t sampled_sequences = 16;
constexpr std::size_t sampled_length = 128, sampled_length_of_tensors = 32;
constexpr std::size_t sampled_work = std::size_t{1} << 32U;  // parameters that steps pass over

using Tokens = std::vector<std::uint32_t>;
using Cache = SingleTransformer::Cache;

/// Runs sequences and keeps the largest activations.
class Runs {
 public:
  Runs(const SingleTransformer& model, std::span<const std::uint32_t> text, std::uint32_t filler)
      : model_(model), text_(text), filler_(filler) {}

  /// `count` tokens of the text, which starts again at its end, then filler up to `length`.
  [[nodiscard]] Tokens sequence(std::size_t first, std::size_t count, std::size_t length) const {
    Tokens tokens(length, filler_);
    for (std::size_t i = 0; i < count; ++i) {
      tokens[i] = text_[(first + i) % text_.size()];
    }
    return tokens;
  }

  void run(const Tokens& sequence) {
    Cache cache = Cache::of_one_pass(model_.shape(), sequence.size());
    extend({&cache, 1}, sequence);
  }

  /// A whole context, filled up, and what is filled up from its half on: their common part once.
  void run_first(std::size_t positions, std::size_t padded) {
    const std::size_t common = padded / 2 + 1;
    Cache cache(model_.shape(), padded);
    extend({&cache, 1}, sequence(0, common, common));
    for (const std::size_t text : {positions - common, std::size_t{0}}) {
      cache.length = common;
      extend({&cache, 1}, sequence(common, text, padded - common));
    }
  }

  [[nodiscard]] Calibration result() && { return std::move(calibration_); }

 private:
  void extend(std::span<Cache> caches, const Tokens& tokens) {
    static_cast<void>(model_.extend(caches, tokens, &calibration_.maxima, &calibration_.channels));
  }

  const SingleTransformer& model_;
  std::span<const std::uint32_t> text_;
  std::uint32_t filler_;
  Calibration calibration_;
};

}  // namespace

std::vector<std::uint32_t> sample_calibration_tokens(const SingleTransformer& model, std::uint32_t first) {
  const ModelShape& shape = model.shape();
  std::size_t parameters = 1;
  for (const ParameterRow& row : parameter_table(shape)) {
    parameters += row.extents(shape).count();
  }
  const std::size_t least = shape.gpt2() ? sampled_length_of_tensors : sampled_length;
  const std::size_t length = std::min(std::clamp(sampled_work / parameters, least, sampled_length), shape.n_positions);
  std::vector<std::uint32_t> tokens;
  for (const auto& sequence : sample_sequences(model, first, sampled_sequences, length)) {
    tokens.insert(tokens.end(), sequence.begin(), sequence.end());
  }
  return tokens;
}

Calibration calibrate(const SingleTransformer& model, std::span<const std::uint32_t> tokens, std::uint32_t filler,
                      const Progress& progress) {
  if (tokens.empty()) {
    throw InputError("calibration text: expected at least one token, found none");
  }
  const std::size_t window = model.shape().n_positions;
  const std::size_t padded = std::bit_ceil(window);
  const std::size_t stride = std::max<std::size_t>(1, window * 3 / 4);
  Runs runs(model, tokens, filler);
  const auto tell = [&](std::size_t end) {
    if (progress) {
      progress(std::min(end, tokens.size()), tokens.size());
    }
  };
  runs.run_first(window, padded);
  tell(window);
  for (std::size_t end = window; end < tokens.size();) {
    end = std::min(end + stride, tokens.size());
    runs.run(runs.sequence(end - window, window, window));
    tell(end);
  }
  std::size_t first = 0;
  for (std::size_t length = padded / 8; length >= 2; length /= 8) {
    runs.run(runs.sequence(first, length / 2 + 1, length));
    first += length / 2 + 1;
  }
  return std::move(runs).result();
}

}  // namespace tessera
