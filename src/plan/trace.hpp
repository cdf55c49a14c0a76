#pragma once

#include "plan/shape.hpp"
#include "tensor/chunked_tensor.hpp"

namespace tessera {

/// Shapes of all activation tensors of one inference over s_hat = 2^ceil(log2 s) tokens. Dimensions: B block, F feature
/// (n_embd, Dimension::tiled), H head, M place in a head (padded to a power of two), A = the q/k/v layout: if m is a
/// power of two, features in chunks of m (one chunk a head), else F; N MLP feature (tiled), T token (one chunk of
/// s_hat), Q,K query and key tiles of tau = min(s_hat, 128).
struct ActivationShapes {
  Shape block_feature;  // (B, F, T)
  Shape feature;        // (F, T)
  Shape block_token;    // (B, T)
  Shape token;          // (T)
  Shape block_qkv;      // (B, A, T)
  Shape block_head;     // (B, H, M, T)   O, y
  Shape block_row;      // (B, H, T)      M, D, R
  Shape scores;         // (B, H, Q, K), causal
  Shape block_inner;    // (B, N, T)
  static ActivationShapes of(const ModelShape& shape, std::size_t padded_tokens);
  /// (V, G): vocabulary tiled, generated positions in one chunk.
  static Shape logits(const ModelShape& shape, std::size_t generated);
};

template <class T>
using Sharded = ChunkedTensor<T>;

/// Integers of one layer norm: mu, sigma, I per (block, token), replicated; u and the 32-bit remainder of its rshift.
struct LayerNormTrace {
  Sharded<std::int32_t> mu;
  Sharded<std::int32_t> sigma;
  Sharded<std::int32_t> inverse;  // I, < 2^31
  Sharded<std::int16_t> u;
  Sharded<std::int64_t> u_remainder;
};

/// Everything of one inference that the prover needs; every rank holds what it owns (features and heads by contiguous
/// ranges of chunk numbers, block_token and token tensors replicated).
struct Trace {
  std::vector<std::uint32_t> tokens;  // prompt, generated, filler: s_hat ids
  std::size_t prompt_length = 0;
  std::size_t generated = 0;
  Sharded<std::int32_t> x_in, x_mid;  // (B,F,T)
  Sharded<std::int32_t> x_end;        // (F,T)
  LayerNormTrace ln1, ln2;            // (B,F,T)
  LayerNormTrace lnf;                 // (F,T), mu.. (T)
  Sharded<std::int16_t> q, k, v;      // (B,A,T)
  Sharded<std::uint16_t> q_remainder, k_remainder, v_remainder;
  Sharded<std::int16_t> score;             // z (B,H,Q,K); 0 above the diagonal
  Sharded<std::uint16_t> score_remainder;  // of rshift(Z*A, S)
  Sharded<std::int16_t> row_max;           // M (B,H,T)
  Sharded<std::int32_t> exponential;       // e (B,H,Q,K)
  Sharded<std::int64_t> row_sum;           // D (B,H,T)
  Sharded<std::int32_t> row_inverse;       // R
  Sharded<std::int64_t> value_sum;         // O (B,H,M,T)
  Sharded<std::int16_t> y;                 // (B,H,M,T)
  Sharded<std::int64_t> y_remainder;       // 46 bits
  Sharded<std::uint16_t> o_remainder;      // (B,F,T) of x_mid - x_in
  Sharded<std::int16_t> mlp;               // z (B,N,T)
  Sharded<std::uint16_t> mlp_remainder;
  Sharded<std::int16_t> gelu;                // g (B,N,T)
  Sharded<std::uint16_t> mlp_out_remainder;  // (B,F,T) of x_out - x_mid
  Sharded<std::int64_t> logits;              // (V,G); column g belongs to position prompt_length + g - 1

  /// A trace without tokens: shapes for `padded_tokens` = s_hat, ownership of `rank` among `ranks`. Values are 0 and
  /// remainders 2^(S-1), which is what the identities give in padding and above the diagonal.
  static Trace allocate(const ModelShape& shape, const Exponents& exponents, std::size_t padded_tokens,
                        std::size_t generated, int rank, int ranks);
};

/// First value of row `index` of dimension `ChunkedTensor::shape().dimensions()[n-2]` in a tensor whose dimensions are
/// (outer..., rows, columns in one chunk); `outer` is the flat number of the outer indices. The row must be held here.
template <class T>
T* trace_row(ChunkedTensor<T>& tensor, std::size_t outer, std::size_t index) {
  const std::vector<Dimension>& dimensions = tensor.shape().dimensions();
  const Dimension& rows = dimensions[dimensions.size() - 2];
  const std::size_t chunk = outer * rows.chunk_count() + (index >> rows.log_chunk);
  return tensor.chunk(chunk).data() + ((index & (rows.chunk() - 1)) << dimensions.back().log_chunk);
}

}  // namespace tessera
