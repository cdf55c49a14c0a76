#include <gtest/gtest.h>

#include <filesystem>

#include "architecture/model_plan.hpp"
#include "integer_model/shape_key.hpp"
#include "protocol/protocol.hpp"

namespace tessera::test {
namespace {

/// Statements of every shape that is bundled have the bits that prover and verifier ask for, up to the longest that can
/// be proven.
TEST(Shapes, have_enough_soundness) {
  constexpr std::size_t most_lookups = std::size_t{1} << 30;
  std::size_t shapes = 0;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(TESSERA_SOURCE_DIR) / "configs")) {
    if (file.path().extension() != ".json") {
      continue;
    }
    ++shapes;
    VerifyingKey key = key_of_shape(read_checkpoint_config(file.path()));
    for (const std::uint64_t hiding_proofs : {0, 1000}) {
      key.hiding_proofs = hiding_proofs;
      key.parameter_oracle = parameter_oracle_parameters(parameter_shapes(key.shape), hiding_proofs > 0);
      for (const auto& [prompt, generated] : {std::pair{1, 1}, {448, 64}, {512, 512}, {1024, 1024}}) {
        if (std::size_t(prompt + generated) > key.shape.n_positions) {
          continue;
        }
        const ModelPlan plan = ModelPlan::of(key, std::size_t(prompt), std::size_t(generated));
        if (plan.lookup.present_leaves() <= most_lookups) {
          EXPECT_GE(soundness_report(plan, key).round_by_round_bits(), required_soundness_bits)
              << file.path() << " " << prompt << " + " << generated << ", " << hiding_proofs;
        }
      }
    }
  }
  EXPECT_GE(shapes, 7U);
}

}  // namespace
}  // namespace tessera::test
