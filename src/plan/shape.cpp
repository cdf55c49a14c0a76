#include <algorithm>
#include <bit>
#include <cmath>
#include "plan/shape.hpp"
#include "plan/trace.hpp"

namespace tessera {
namespace {

/// floor(sqrt(value)).
std::uint64_t integer_sqrt(std::uint64_t value) {
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(value)));
  while (root * root > value) {
    --root;
  }
  while ((root + 1) * (root + 1) <= value) {
    ++root;
  }
  return root;
}

}  // namespace

IntegerConstants IntegerConstants::of(const ModelShape& shape, double layer_norm_epsilon) {
  const auto d = static_cast<double>(shape.n_embd);
  return of(shape, std::max<std::int64_t>(1, std::llround(d * layer_norm_epsilon * 0x1p24)));
}

IntegerConstants IntegerConstants::of(const ModelShape& shape, std::int64_t epsilon) {
  const auto d = static_cast<double>(shape.n_embd);
  IntegerConstants constants;
  constants.epsilon = epsilon;
  constants.norm_numerator = std::llround(std::sqrt(d) * 0x1p16) << 14;
  constants.kappa = ceil_log2(shape.n_positions) + 1;
  constants.residual_bits = std::min(27U, (62 - ceil_log2(shape.n_embd)) / 2 + 1);
  const std::uint64_t least_sigma = integer_sqrt(static_cast<std::uint64_t>(constants.epsilon));
  constants.inverse_bits =
      static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(constants.norm_numerator) / least_sigma));
  return constants;
}

ActivationShapes ActivationShapes::of(const ModelShape& shape, std::size_t padded_tokens) {
  const Dimension block = Dimension::outer(shape.n_layer);
  const Dimension feature = Dimension::tiled(shape.n_embd);
  const Dimension head = Dimension::outer(shape.n_head);
  const Dimension place = Dimension::whole(shape.head_size());
  const Dimension inner = Dimension::tiled(shape.n_inner);
  const Dimension token = Dimension::whole(padded_tokens);
  const Dimension tile{padded_tokens, std::min(token.log_chunk, 7U)};
  const bool whole_heads = std::has_single_bit(shape.head_size());
  const Dimension qkv = whole_heads ? Dimension{shape.n_embd, place.log_chunk} : feature;
  ActivationShapes shapes;
  shapes.block_feature = Shape({block, feature, token});
  shapes.feature = Shape({feature, token});
  shapes.block_token = Shape({block, token});
  shapes.token = Shape({token});
  shapes.block_qkv = Shape({block, qkv, token});
  shapes.block_head = Shape({block, head, place, token});
  shapes.block_row = Shape({block, head, token});
  shapes.scores = Shape({block, head, tile, tile}, Presence::causal);
  shapes.block_inner = Shape({block, inner, token});
  return shapes;
}

Shape ActivationShapes::logits(const ModelShape& shape, std::size_t generated) {
  return Shape({Dimension::tiled(shape.n_vocab), Dimension::whole(generated)});
}

}  // namespace tessera
