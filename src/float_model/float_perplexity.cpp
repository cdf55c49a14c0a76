#include <algorithm>
#include <cmath>
#include "base/errors.hpp"
#include "float_model/float_model.hpp"

namespace tessera {
namespace {

constexpr std::size_t window_tokens = 1024;  // enough columns for BLAS where windows are short
constexpr std::size_t logit_rows = 64;       // (rows, vocabulary) in double stays small for large vocabularies

void score_window(const FloatTransformer& model, std::span<const double> hidden, std::span<const std::uint32_t> tokens,
                  Perplexity& sum) {
  const std::size_t d = model.shape().n_embd;
  const std::size_t vocabulary = model.shape().n_vocab;
  for (std::size_t begin = 0; begin + 1 < tokens.size(); begin += logit_rows) {
    const std::size_t rows = std::min(logit_rows, tokens.size() - 1 - begin);
    const std::vector<double> logits = model.logits(hidden.subspan(begin * d, rows * d));
    for (std::size_t row = 0; row < rows; ++row) {
      sum.add({logits.data() + row * vocabulary, vocabulary}, tokens[begin + row + 1]);
    }
  }
}

}  // namespace

void Perplexity::add(std::span<const double> logits, std::uint32_t target) {
  const double maximum = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const double logit : logits) {
    sum += std::exp(logit - maximum);
  }
  total_nll += std::log(sum) + maximum - logits[target];
  ++predicted;
}

double Perplexity::value() const { return std::exp(total_nll / static_cast<double>(predicted)); }

Perplexity perplexity(const FloatTransformer& model, std::span<const std::uint32_t> tokens, const Progress& progress) {
  if (tokens.size() < 2) {
    throw InputError("text: expected at least 2 tokens to predict one, found " + std::to_string(tokens.size()));
  }
  const std::size_t window = model.shape().n_positions;
  const std::size_t d = model.shape().n_embd;
  Perplexity sum;
  for (std::size_t begin = 0; begin < tokens.size();) {
    const std::size_t full = (tokens.size() - begin) / window;  // 0: the last, shorter window
    const std::size_t windows = full == 0 ? 1 : std::min(full, std::max<std::size_t>(1, window_tokens / window));
    const std::size_t length = full == 0 ? tokens.size() - begin : window;
    const std::span<const std::uint32_t> batch = tokens.subspan(begin, windows * length);
    std::vector<KeyValueCache> caches(windows, KeyValueCache(model.shape(), length));
    const std::vector<double> hidden = model.extend(caches, batch);
    for (std::size_t w = 0; w < windows; ++w) {
      score_window(model, std::span(hidden).subspan(w * length * d, length * d), batch.subspan(w * length, length),
                   sum);
    }
    begin += windows * length;
    if (progress) {
      progress(begin, tokens.size());
    }
  }
  return sum;
}

}  // namespace tessera
