#include <algorithm>
#include <bit>
#include <set>
#include "base/errors.hpp"
#include "model/calibration.hpp"

namespace tessera {
namespace {

constexpr std::size_t sampled_sequences = 8;
constexpr std::size_t sampled_length =
    256;  // sampling costs a pass over the weights a step: keep it short in long contexts

/// How many tokens of text come before the filler.
std::set<std::size_t> text_lengths(std::size_t positions, std::size_t padded) {
  // One more than a power of two has the most filler.
  std::set<std::size_t> lengths = {0, 1, 3, padded / 8 + 1, padded / 4 + 1, padded / 2 + 1, positions * 3 / 4};
  if (padded > positions) {
    lengths.insert(positions);
  }
  return lengths;
}

}  // namespace

std::vector<std::uint32_t> sample_calibration_tokens(const FloatTransformer& model, std::uint32_t first) {
  const std::size_t length = std::min(sampled_length, model.shape().n_positions);
  std::vector<std::uint32_t> tokens;
  for (const auto& sequence : sample_sequences(model, first, sampled_sequences, length)) {
    tokens.insert(tokens.end(), sequence.begin(), sequence.end());
  }
  return tokens;
}

Calibration calibrate(const FloatTransformer& model, std::span<const std::uint32_t> tokens, std::uint32_t filler,
                      const Progress& progress) {
  if (tokens.empty()) {
    throw InputError("calibration text: expected at least one token, found none");
  }
  const ModelShape& shape = model.shape();
  const std::size_t padded = std::bit_ceil(shape.n_positions);
  const std::size_t window = std::min(shape.n_positions, tokens.size());
  const std::size_t stride = std::max<std::size_t>(1, window * 3 / 4);
  Calibration calibration;
  const auto run = [&](std::span<const std::uint32_t> sequence) {
    KeyValueCache cache = KeyValueCache::of_one_pass(shape, sequence.size());
    static_cast<void>(model.extend({&cache, 1}, sequence, &calibration.maxima, &calibration.channels));
  };
  std::size_t seen = 0;
  for (std::size_t end = window; end <= tokens.size(); end += stride) {
    run(tokens.subspan(end - window, window));
    seen = end;
    if (progress) {
      progress(end, tokens.size());
    }
  }
  if (seen < tokens.size()) {
    run(tokens.last(window));
  }
  std::size_t begin = 0;
  for (const std::size_t length : text_lengths(shape.n_positions, padded)) {
    const std::size_t taken = std::min({length, tokens.size(), shape.n_positions});
    std::vector<std::uint32_t> sequence(padded, filler);
    begin = begin + taken > tokens.size() ? 0 : begin;
    std::copy_n(tokens.begin() + static_cast<std::ptrdiff_t>(begin), taken, sequence.begin());
    begin += taken;
    run(sequence);
  }
  return calibration;
}

}  // namespace tessera
