#include "plan/trace.hpp"

#include <algorithm>

namespace tessera {
namespace {

/// Allocates tensors that rank `rank` owns a part of.
struct Allocator {
  int rank;
  int ranks;

  template <class T>
  void values(ChunkedTensor<T>& tensor, const Shape& shape, std::size_t dimension) const {
    tensor = ChunkedTensor<T>(shape, Ownership{dimension}, rank, ranks);
  }
  /// Remainders of an rshift by `shift`: rshift(0, shift) leaves 2^(shift-1).
  template <class T>
  void remainders(ChunkedTensor<T>& tensor, const Shape& shape, std::size_t dimension, int shift) const {
    values(tensor, shape, dimension);
    std::ranges::fill(tensor.values(), static_cast<T>(std::int64_t{1} << (shift - 1)));
  }
  void layer_norm(LayerNormTrace& norm, const Shape& features, const Shape& tokens, std::size_t dimension,
                  int shift) const {
    values(norm.mu, tokens, Ownership::replicated);
    values(norm.sigma, tokens, Ownership::replicated);
    values(norm.inverse, tokens, Ownership::replicated);
    values(norm.u, features, dimension);
    remainders(norm.u_remainder, features, dimension, shift);
  }
};

}  // namespace

Trace Trace::allocate(const ModelShape& shape, const Exponents& exponents, std::size_t padded_tokens,
                      std::size_t generated, int rank, int ranks) {
  const ActivationShapes shapes = ActivationShapes::of(shape, padded_tokens);
  const Allocator make{rank, ranks};
  const Exponents& e = exponents;
  Trace trace;
  trace.generated = generated;
  make.values(trace.x_in, shapes.block_feature, 1);
  make.values(trace.x_mid, shapes.block_feature, 1);
  make.values(trace.x_end, shapes.feature, 0);
  make.layer_norm(trace.ln1, shapes.block_feature, shapes.block_token, 1, e.shift_norm(e.gamma1, e.u1));
  make.layer_norm(trace.ln2, shapes.block_feature, shapes.block_token, 1, e.shift_norm(e.gamma2, e.u2));
  make.layer_norm(trace.lnf, shapes.feature, shapes.token, 0, e.shift_norm(e.gammaf, e.uf));
  make.values(trace.q, shapes.block_qkv, 1);
  make.values(trace.k, shapes.block_qkv, 1);
  make.values(trace.v, shapes.block_qkv, 1);
  make.remainders(trace.q_remainder, shapes.block_qkv, 1, e.shift_q());
  make.remainders(trace.k_remainder, shapes.block_qkv, 1, e.shift_k());
  make.remainders(trace.v_remainder, shapes.block_qkv, 1, e.shift_v());
  make.values(trace.score, shapes.scores, 1);
  make.remainders(trace.score_remainder, shapes.scores, 1, e.shift_score());
  make.values(trace.exponential, shapes.scores, 1);
  make.values(trace.row_max, shapes.block_row, 1);
  make.values(trace.row_sum, shapes.block_row, 1);
  make.values(trace.row_inverse, shapes.block_row, 1);
  make.values(trace.value_sum, shapes.block_head, 1);
  make.values(trace.y, shapes.block_head, 1);
  make.remainders(trace.y_remainder, shapes.block_head, 1, static_cast<int>(softmax_shift));
  make.remainders(trace.o_remainder, shapes.block_feature, 1, e.shift_o());
  make.values(trace.mlp, shapes.block_inner, 1);
  make.remainders(trace.mlp_remainder, shapes.block_inner, 1, e.shift_1());
  make.values(trace.gelu, shapes.block_inner, 1);
  make.remainders(trace.mlp_out_remainder, shapes.block_feature, 1, e.shift_2());
  if (generated > 0) {
    make.values(trace.logits, ActivationShapes::logits(shape, generated), 0);
  }
  return trace;
}

}  // namespace tessera
