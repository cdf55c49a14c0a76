#include "checkpoints/checkpoint.hpp"

#include <algorithm>
#include <functional>

namespace tessera {

void CheckpointConfig::turn(const Rope& rope) {
  auto found = std::ranges::find(ropes, rope);
  if (found == ropes.end()) {
    found = ropes.insert(ropes.end(), rope);
  }
  shape.rotation_of_block.push_back(static_cast<std::uint32_t>(found - ropes.begin()));
}

void CheckpointConfig::settle_rotations() {
  shape.rotations = static_cast<std::uint32_t>(ropes.size());
  if (shape.rotations == 1) {
    shape.rotation_of_block.clear();
  }
}

void CheckpointConfig::cap(const SoftCaps& all) {
  caps = all;
  shape.score_cap = all.scores > 0;
  shape.logit_cap = all.logits > 0;
}

void CheckpointConfig::scale_scores(double factor) {
  for (const ParameterId id : {gamma_q, wq, bq}) {
    factors[id] *= scales_scores(id, shape) ? factor : 1;
  }
}

void CheckpointConfig::scale_scores(const std::vector<double>& by_block) {
  if (std::ranges::adjacent_find(by_block, std::ranges::not_equal_to{}) == by_block.end()) {
    scale_scores(by_block.front());
    return;
  }
  for (const ParameterId id : {gamma_q, wq, bq}) {
    factors.blocks[id] = scales_scores(id, shape) ? by_block : std::vector<double>();
  }
}

bool scales_scores(ParameterId id, const ModelShape& shape) {
  return shape.head_norm ? id == gamma_q : id == wq || id == bq;
}

}  // namespace tessera
