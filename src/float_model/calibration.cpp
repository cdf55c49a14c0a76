#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include "base/errors.hpp"
#include "float_model/calibration.hpp"

namespace tessera {
namespace {

// Sampling costs a pass over the weights a step: many sequences side by side, and long ones where that is cheap. The
// largest value of a tensor shows soon; equalising needs that of every channel.
constexpr std::size_t sampled_sequences = 16;
constexpr std::size_t sampled_length = 128, sampled_length_of_tensors = 32;
constexpr std::size_t sampled_work = std::size_t{1} << 32U;  // parameters that steps pass over
constexpr std::size_t batch_tokens = 1024;                   // of short sequences side by side
constexpr int kept_bits = 11;                                // of a maximum

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

  /// Sequences of one length, side by side.
  void run_batch(std::span<const TokenSequence* const> batch) {
    Tokens tokens;
    for (const TokenSequence* sequence : batch) {
      tokens.insert(tokens.end(), sequence->begin(), sequence->end());
    }
    std::vector<Cache> caches(batch.size(), Cache::of_one_pass(model_.shape(), batch.front()->size()));
    extend(caches, tokens);
  }

  [[nodiscard]] Calibration result() && {
    for (auto& [kind, maximum] : calibration_.maxima) {
      maximum = rounded_up(maximum);
    }
    for (auto& [place, maxima] : calibration_.channels) {
      std::ranges::transform(maxima, maxima.begin(), rounded_up);
    }
    return std::move(calibration_);
  }

 private:
  static double rounded_up(double value) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    return std::ldexp(std::ceil(std::ldexp(fraction, kept_bits)), exponent - kept_bits);
  }

  void extend(std::span<Cache> caches, const Tokens& tokens) {
    static_cast<void>(model_.extend(caches, tokens, &calibration_.maxima, &calibration_.channels));
  }

  const SingleTransformer& model_;
  std::span<const std::uint32_t> text_;
  std::uint32_t filler_;
  Calibration calibration_;
};

}  // namespace

std::vector<std::uint32_t> sample_calibration_tokens(const SingleTransformer& model, std::uint32_t first,
                                                     std::span<const std::uint32_t> starts) {
  const ModelShape& shape = model.shape();
  std::size_t parameters = 1;
  for (const ParameterRow& row : parameter_table(shape)) {
    parameters += row.extents(shape).count();
  }
  const std::size_t least = shape.rotary() ? sampled_length : sampled_length_of_tensors;
  const std::size_t length = std::min(std::clamp(sampled_work / parameters, least, sampled_length), shape.n_positions);
  std::vector<std::uint32_t> beginnings(sampled_sequences, first);
  for (std::size_t i = 0; 2 * i + 1 < sampled_sequences && !starts.empty(); ++i) {
    beginnings[2 * i + 1] = starts[i % starts.size()];
  }
  std::vector<std::uint32_t> tokens;
  for (const auto& sequence : sample_sequences(model, beginnings, length)) {
    tokens.insert(tokens.end(), sequence.begin(), sequence.end());
  }
  return tokens;
}

namespace {

/// Windows of the text and filled up beginnings; told how many tokens they are.
void run_text(Runs& runs, std::size_t positions, std::size_t size, const std::function<void(std::size_t)>& done) {
  const std::size_t padded = std::bit_ceil(positions);
  const std::size_t stride = std::max<std::size_t>(1, positions * 3 / 4);
  runs.run_first(positions, padded);
  done(positions);
  for (std::size_t end = positions; end < size;) {
    const std::size_t begin = end;
    end = std::min(end + stride, size);
    runs.run(runs.sequence(end - positions, positions, positions));
    done(end - begin);
  }
  std::size_t first = 0;
  for (std::size_t length = padded / 8; length >= 2; length /= 8) {
    runs.run(runs.sequence(first, length / 2 + 1, length));
    first += length / 2 + 1;
  }
}

void run_battery(Runs& runs, std::span<const TokenSequence> battery, const std::function<void(std::size_t)>& done) {
  std::map<std::size_t, std::vector<const TokenSequence*>> by_length;
  for (const TokenSequence& sequence : battery) {
    by_length[sequence.size()].push_back(&sequence);
  }
  for (const auto& [length, all] : by_length) {
    const std::size_t at_once = std::max<std::size_t>(1, batch_tokens / length);
    for (std::size_t first = 0; first < all.size(); first += at_once) {
      const auto batch = std::span(all).subspan(first, std::min(at_once, all.size() - first));
      runs.run_batch(batch);
      done(batch.size() * length);
    }
  }
}

}  // namespace

Calibration calibrate(const SingleTransformer& model, std::span<const std::uint32_t> tokens, std::uint32_t filler,
                      std::span<const TokenSequence> battery, const Progress& progress) {
  if (tokens.empty()) {
    throw InputError("calibration text: expected at least one token, found none");
  }
  const std::size_t positions = model.shape().n_positions;
  std::size_t total = std::max(tokens.size(), positions);
  for (const TokenSequence& sequence : battery) {
    total += sequence.size();
  }
  std::size_t sum = 0;
  const auto done = [&](std::size_t count) {
    sum += count;
    if (progress) {
      progress(sum, total);
    }
  };
  Runs runs(model, tokens, filler);
  run_text(runs, positions, tokens.size(), done);
  run_battery(runs, battery, done);
  return std::move(runs).result();
}

}  // namespace tessera
