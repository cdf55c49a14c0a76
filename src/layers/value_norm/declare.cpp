#include "layers/value_norm/value_norm.hpp"

namespace tessera {

std::vector<bool> ValueNormSpec::of_token() const {
  std::vector<bool> dimensions(value.dimensions().size());
  for (std::size_t j = 0; j < dimensions.size(); ++j) {
    dimensions[j] = keeps(j);
  }
  return dimensions;
}

std::vector<bool> ValueNormSpec::of_gain() const {
  std::vector<bool> dimensions = of_token();
  dimensions.flip();
  dimensions.front() = true;
  return dimensions;
}

template <class T>
ValueNormPlan<T> ValueNormPlan<T>::declare(Builder& builder, ValueNormSpec spec, Ownership of_value,
                                           Ownership of_token) {
  ValueNormPlan norm;
  static_cast<ValueNormSpec&>(norm) = std::move(spec);
  norm.commit(builder, norm.name, norm.token, of_token);
  norm.check(builder, norm.name, norm.token, norm.inverse_bits, of_token);
  norm.h = builder.value<T>(norm.name + "/h", norm.value, of_value, norm.bits, true);
  builder.clamp(norm.h, norm.shift);
  norm.h_remainder = builder.remainder<std::uint16_t>(norm.name + "/h_remainder", norm.value, of_value, norm.shift);
  norm.square_sum = builder.derive(norm.name + "/square_sum", norm.token, of_token);
  return norm;
}

template struct ValueNormPlan<std::int16_t>;
template struct ValueNormPlan<std::int32_t>;

}  // namespace tessera
