#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include "float_model/float_layers.hpp"
#include "checkpoints/trained_model.hpp"
#include "float_model/perplexity.hpp"
#include <vector>

namespace tessera {

/// Largest absolute value seen of each kind of tensor, over all blocks, heads and positions: "residual" (before,
/// between and after all layers), "u1", "u2", "uf" (norms' outputs), "q" and "score" (both with 1/sqrt(m)), of capped
/// scores also "uncapped", "k",
/// "v", "y" (attention output before W_O), "mlp" and "gelu" (before and after the activation), "update" (what is added
/// to the residual). Of a gated MLP "mlp" and "gelu" are the gate's, and there is "product" (gate times up); with
/// rotary positions "q" and "k" are rotated; "hq" and "hk" are inputs of the heads' norms, "ho" and "hm" of those
/// behind branches.
using ActivationRanges = std::map<std::string, double>;

/// Largest absolute value seen in each channel, by the names and sizes of equalised_places(): of norms' outputs,
/// values and products; "rotated" is two, "rotated_q" and "rotated_k": of both halves, over the query heads of a
/// key head, over all heads where each has a norm. Empty with learned positions.
using ChannelMaxima = std::map<std::string, std::vector<double>>;

/// Keys and values of the tokens that one sequence has seen so far, per block (position, key feature).
template <class Real>
struct BasicCache {
  BasicCache(const ModelShape& shape, std::size_t positions);
  /// For one call of extend(): all blocks use the same memory, one after the other.
  static BasicCache of_one_pass(const ModelShape& shape, std::size_t positions);
  std::size_t capacity = 0, length = 0;         // tokens
  std::vector<std::vector<Real>> keys, values;  // one (capacity, key_features) matrix a block, or one for all

  std::vector<Real>& keys_of(std::size_t block) { return keys[keys.size() == 1 ? 0 : block]; }
  std::vector<Real>& values_of(std::size_t block) { return values[values.size() == 1 ? 0 : block]; }
  [[nodiscard]] const std::vector<Real>& keys_of(std::size_t block) const { return keys[keys.size() == 1 ? 0 : block]; }
  [[nodiscard]] const std::vector<Real>& values_of(std::size_t block) const {
    return values[values.size() == 1 ? 0 : block];
  }

 private:
  BasicCache(std::size_t blocks, std::size_t positions, std::size_t features);
};

/// The transformer in Real, float or double, on OpenMP's threads. Matrices stay float32 and are widened where they are
/// multiplied (see linear()). Immutable. Positions from n_positions on have a zero position row, or zero queries and
/// keys where they are rotated, as in the integer transformer, where filler tokens may lie there.
template <class Real>
class BasicTransformer {
 public:
  using Cache = BasicCache<Real>;
  using Values = std::vector<Real>;
  /// Uses the parameters where they are: the model must outlive this and what is copied from it.
  explicit BasicTransformer(const FloatModel& model);
  /// Keeps the model.
  explicit BasicTransformer(FloatModel&& model);
  [[nodiscard]] const ModelShape& shape() const { return shape_; }

  /// Appends the same number of tokens to every sequence; `tokens` is (sequence, token), each sequence at its own
  /// length. Returns the final norm's output (sequence, token, feature). Throws InputError for an id outside the
  /// vocabulary and for a sequence beyond its cache's capacity.
  Values extend(std::span<Cache> sequences, std::span<const std::uint32_t> tokens, ActivationRanges* ranges = nullptr,
                ChannelMaxima* channels = nullptr) const;

  /// Logits (row, vocabulary) of rows of extend()'s result.
  [[nodiscard]] Values logits(std::span<const Real> hidden) const;

 private:
  class Recorder;
  struct Projections {
    Values q, k, v;  // (row, query feature), (row, key feature) twice
  };

  explicit BasicTransformer(std::shared_ptr<const FloatModel> model);
  /// A vector of one block; of parameters without blocks, block 0 is all; empty where the model has none.
  [[nodiscard]] std::span<const Real> vector(ParameterId id, std::size_t block) const;
  /// A matrix of one block, which the model must have; of parameters without blocks, block 0 is all.
  [[nodiscard]] FloatMatrix matrix(ParameterId id, std::size_t block) const;
  /// X*W^T + b.
  [[nodiscard]] Values product(const Values& x, ParameterId weight, std::size_t block,
                               std::span<const Real> bias = {}) const;
  [[nodiscard]] Values norm(const Values& x, ParameterId gamma, ParameterId beta, std::size_t block) const;
  [[nodiscard]] Values embed(std::span<const Cache> sequences, std::span<const std::uint32_t> tokens,
                             std::size_t count) const;
  [[nodiscard]] Projections project(std::span<const Cache> sequences, std::size_t block, std::size_t count,
                                    const Values& u, const Recorder& record) const;
  /// Turns the heads of all rows by the positions of their tokens.
  void rotate_rows(std::span<const Cache> sequences, std::size_t block, std::size_t count, Values& values) const;
  /// What the first or the second branch of a block reads.
  [[nodiscard]] Values branch_input(const Values& x, std::size_t block, bool first, const Recorder& record) const;
  /// Adds what a branch makes.
  void add_branch(Values& x, Values change, std::size_t block, bool first, const Recorder& record) const;
  [[nodiscard]] Values attend(std::span<const Cache> sequences, std::size_t block, std::size_t count, const Values& q,
                              const Recorder& record) const;
  [[nodiscard]] Values mlp(const Values& u, std::size_t block, const Recorder& record) const;
  [[nodiscard]] Values gated_mlp(const Values& u, std::size_t block, const Recorder& record) const;
  void run_block(std::span<Cache> sequences, std::size_t block, std::size_t count, Values& x,
                 const Recorder& record) const;

  ModelShape shape_;
  double epsilon_;
  ActivationKind activation_;
  SoftCaps caps_;
  std::vector<Values> rotary_;  // of each rotation all cosines, then all sines, of (position, i < m/2)
  std::shared_ptr<const FloatModel> model_;
  ByParameter<double> factors_{};  // 1/sqrt(m) where it is folded in
  ByParameter<Values> vectors_;    // (block, feature), times factor
};

using KeyValueCache = BasicCache<double>;
using FloatTransformer = BasicTransformer<double>;
/// Twice as fast, for sizes of activations.
using SingleTransformer = BasicTransformer<float>;

/// Perplexity over non-overlapping windows of n_positions tokens; token 0 of each window is not scored and the last,
/// shorter window counts. Throws InputError if there is nothing to predict.
Perplexity perplexity(const FloatTransformer& model, std::span<const std::uint32_t> tokens,
                      const Progress& progress = nullptr);

/// Samples sequences of `length` tokens side by side (one pass over the weights a step), one from each of `starts`,
/// which is its first token; temperature 0.9, among the 100 likeliest tokens. The same on any machine on which
/// calibrate() is.
std::vector<std::vector<std::uint32_t>> sample_sequences(const SingleTransformer& model,
                                                         std::span<const std::uint32_t> starts, std::size_t length);

}  // namespace tessera
