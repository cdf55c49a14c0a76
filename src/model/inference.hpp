#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cluster/communicator.hpp"
#include "arithmetic/integer_product.hpp"
#include "model/model.hpp"
#include "model/perplexity.hpp"
#include "arithmetic/range_guard.hpp"
#include "arithmetic/row_share.hpp"
#include "plan/trace.hpp"

namespace tessera {

/// What inference reads of a model. Parameters are referred to, not copied: the Model must outlive this. A rank needs
/// the rows of its RowShare only.
struct IntegerModel {
  ModelShape shape;
  IntegerConstants constants;
  Exponents exponents;
  const Parameters* parameters = nullptr;
  std::vector<std::int32_t> exp_table;   // 2^16 rows, see tables.hpp
  std::vector<std::int16_t> gelu_table;  // 2^16 rows
  /// Throws std::invalid_argument naming the field if a shift, a bias shift or a parameter's length is out of range.
  explicit IntegerModel(const Model& model);
};

/// Whether a run records a Trace.
enum class Record : std::uint8_t { nothing, trace };

/// The integer transformer of one token sequence, sharded: a rank computes its heads, features and vocabulary rows, and
/// activations are gathered between layers. Tokens come in batches of any size; the integers do not depend on how the
/// sequence is cut into batches, on the capacity or on the number of ranks. append() and select() are collective.
class IntegerTransformer {
 public:
  /// `capacity` tokens; with a trace, the power of two s_hat, and `generated` columns of logits.
  IntegerTransformer(const IntegerModel& model, std::size_t capacity, Record record, std::size_t generated,
                     Communicator& comm, std::function<void(std::size_t units)> progress = {});

  /// Runs the next tokens. Throws RangeError on all ranks if a value leaves its range, std::invalid_argument for an id
  /// that is not in the vocabulary or tokens beyond the capacity.
  void append(std::span<const std::uint32_t> ids);
  [[nodiscard]] std::size_t length() const { return length_; }
  /// Forgets all tokens (Record::nothing only).
  void reset() { length_ = 0; }

  /// Logits L_v, scale 2^-(residual + uf), of tokens [first, last): (own vocabulary rows, tokens) row-major.
  [[nodiscard]] std::vector<std::int64_t> logits(Range tokens) const;
  [[nodiscard]] Range vocabulary_rows() const { return vocabulary_; }
  /// The lowest id whose logit of token `position` is maximal, equal on all ranks. The trace takes the logits as column
  /// `generation` if it is recorded.
  std::uint32_t select(std::size_t position, std::size_t generation);

  /// Everything recorded; the transformer is used up.
  Trace take_trace() { return std::move(trace_); }

 private:
  struct Batch {
    std::size_t first = 0;        // position of the first token
    std::size_t size = 0;         // tokens
    std::vector<std::int32_t> x;  // residual stream (n_embd, size)
    std::vector<std::int16_t> u;  // layer-norm output (n_embd, size)
  };
  struct Norm {
    std::string_view name;
    const std::int16_t* gamma;
    const std::int16_t* beta;
    int shift;
    int bias_shift;
    LayerNormTrace* trace;
    std::size_t block;
  };
  struct Linear {
    std::string_view name;
    std::span<const std::int16_t> weights;  // of one block, (out, in)
    const std::int16_t* bias;
    int shift;
    int bias_shift;
  };
  /// Where rows `rows` of a projection go: `values` (row rows.first first), and those of `recorded` into the trace.
  struct Destination {
    Range rows;
    std::int16_t* values;
    std::size_t stride;
    Range recorded;
    ChunkedTensor<std::int16_t>& trace;
    ChunkedTensor<std::uint16_t>& remainders;
  };
  /// Some consecutive queries of one head, all in one tile, against all keys up to the last of them.
  struct QueryTile {
    std::size_t block, head, first, rows;
    [[nodiscard]] std::size_t keys() const { return first + rows; }
  };
  struct AttentionBuffers;

  [[nodiscard]] bool recording() const { return record_ == Record::trace; }
  void run_batch(std::span<const std::uint32_t> ids);
  void embed(std::span<const std::uint32_t> ids, Batch& batch);
  void layer_norm(const Norm& norm, Batch& batch);
  void project(const Linear& linear, const ProductInput& input, const Destination& to, std::size_t block,
               std::size_t first);
  /// Attention output y of all heads (n_embd, batch.size).
  [[nodiscard]] std::vector<std::int16_t> attention(std::size_t block, const Batch& batch);
  void project_qkv(std::size_t block, const Batch& batch);
  void score_products(const QueryTile& tile, const Batch& batch, AttentionBuffers& buffers) const;
  void softmax_row(const QueryTile& tile, std::size_t row, AttentionBuffers& buffers);
  void record_scores(const QueryTile& tile, std::size_t row, const AttentionBuffers& buffers);
  void value_products(const QueryTile& tile, AttentionBuffers& buffers) const;
  void normalize(const QueryTile& tile, const Batch& batch, const AttentionBuffers& buffers, std::int16_t* y);
  /// Activations g of the MLP (n_inner, batch.size).
  [[nodiscard]] std::vector<std::int16_t> mlp(std::size_t block, const Batch& batch);
  /// x += rshift(W*input + bias), gathered.
  void add_residual(const Linear& linear, const ProductInput& input, ChunkedTensor<std::uint16_t>& remainders,
                    std::size_t block, Batch& batch);
  void record_residual(ChunkedTensor<std::int32_t>& tensor, std::size_t block, const Batch& batch) const;
  template <class T>
  std::vector<T> gather(std::vector<T> mine) {
    guard_.agree(comm_);
    return comm_.size() == 1 ? std::move(mine) : comm_.all_gather<T>(mine);
  }

  const IntegerModel& model_;
  std::size_t capacity_;
  Record record_;
  Communicator& comm_;
  std::function<void(std::size_t)> progress_;
  RangeGuard guard_;
  Range features_, heads_, qkv_, inner_, vocabulary_;  // what this rank computes
  Range qkv_owned_;                                    // what its trace keeps of q, k, v
  std::vector<std::int16_t> queries_;                  // (qkv_, batch)
  std::vector<std::int16_t> keys_, values_;            // (block, qkv_, capacity)
  std::vector<std::int16_t> final_;                    // u of the final layer norm (n_embd, capacity)
  std::size_t length_ = 0;
  Trace trace_;
};

/// Generates `generate` >= 1 tokens greedily after the prompt and runs filler tokens up to s_hat = 2^ceil(log2 s).
/// Throws std::invalid_argument (empty prompt, unknown ids, more than n_positions tokens) and RangeError, on all ranks.
Trace run_inference(const IntegerModel& model, std::span<const std::uint32_t> prompt, std::size_t generate,
                    std::uint32_t filler, Communicator& comm, const Progress& progress = {});

/// The same trace in one pass over prompt, given generated tokens and filler. Does not check that `generated` is what
/// the model would generate.
Trace run_one_pass(const IntegerModel& model, std::span<const std::uint32_t> prompt,
                   std::span<const std::uint32_t> generated, std::uint32_t filler, Communicator& comm,
                   const Progress& progress = {});

/// Perplexity of the integer model: windows of n_positions tokens without overlap, token 0 of each not scored; logits
/// are exact, the soft-max over them is in float64.
Perplexity integer_perplexity(const IntegerModel& model, std::span<const std::uint32_t> ids, Communicator& comm,
                              const Progress& progress = {});

}  // namespace tessera
