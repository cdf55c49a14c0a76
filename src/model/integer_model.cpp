#include <stdexcept>
#include <string>

#include "model/integer_model.hpp"
#include "model/setup.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

void require(bool holds, const std::string& name, std::int64_t value, const std::string& expected) {
  if (!holds) {
    throw std::invalid_argument("integer model: " + name + " is " + std::to_string(value) + ", expected " + expected);
  }
}

void require_within(const std::string& name, std::int64_t value, std::int64_t low, std::int64_t high) {
  require(low <= value && value <= high, name, value, std::to_string(low) + " to " + std::to_string(high));
}

void check_parameters(const ModelShape& shape, const Parameters& p) {
  for (const ParameterRow& row : parameter_table()) {
    const ParameterExtents expected = row.extents(shape);
    const ParameterExtents found = p[row.id].extents();
    require(found == expected, "length of " + std::string(row.name), static_cast<std::int64_t>(found.count()),
            std::to_string(expected.count()));
  }
}

}  // namespace

IntegerModel integer_model(const Model& model) {
  check_shape(model.shape);
  check_exponents(model.exponents);
  check_parameters(model.shape, model.parameters);
  require_within("width of 1/sigma", IntegerConstants::of(model.shape, model.layer_norm_epsilon).inverse_bits, 1, 31);
  return {make_verifying_key(model), &model.parameters};
}

}  // namespace tessera
