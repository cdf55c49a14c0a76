#include "integer_model/shape_key.hpp"

#include "integer_model/integer_model.hpp"
#include "integer_model/synthesis.hpp"
#include "plan/limits.hpp"

namespace tessera {

VerifyingKey key_of_shape(const CheckpointConfig& config) {
  check_shape(config.shape);
  CheckpointConfig narrow = config;
  ModelShape& shape = narrow.shape;
  const std::size_t head_size = shape.head_size();
  shape.n_layer = shape.rotation_of_block.empty() && shape.window_of_block.empty() ? 1 : shape.n_layer;
  shape.n_head = 2;
  if (shape.rotary()) {
    shape.n_kv_head = shape.n_kv_head == config.shape.n_head ? 2 : 1;
  }
  shape.n_embd = 2 * head_size;
  shape.n_inner = 4 * shape.n_embd;
  shape.n_vocab = 512;
  Model model = synthesize_model(narrow, 1);
  model.shape = config.shape;
  return make_verifying_key(model);
}

}  // namespace tessera
