#include "layers/stream_input/stream_input.hpp"

namespace tessera {

StreamInput StreamInput::declare(Builder& builder, StreamInputSpec spec) {
  const Ownership by_feature{1};
  StreamInput input;
  static_cast<StreamInputSpec&>(input) = std::move(spec);
  input.u = builder.value<std::int32_t>(input.name, input.feature, by_feature, input.bits, true);
  builder.clamp(input.u, input.shift);
  input.remainder = builder.remainder<std::uint16_t>(input.name + "_remainder", input.feature, by_feature, input.shift);
  return input;
}

}  // namespace tessera
