#include "layers/mlp/mlp.hpp"
#include "plan/witness.hpp"

namespace tessera {

void derive(Witness& witness, const MlpPlan& mlp, Communicator& /*comm*/) {
  const auto& z_of = witness[mlp.z];
  witness.set_input(mlp.gelu, [&z_of](std::size_t chunk, std::span<std::int64_t> values) {
    const auto z = z_of.chunk(chunk);
    for (std::size_t x = 0; x < values.size(); ++x) {
      values[x] = z[x] + (std::int64_t{1} << (gelu_table_log_size - 1));
    }
  });
}

}  // namespace tessera
