#include "integer_model/equalised_sides.hpp"

#include <stdexcept>
#include <string>

namespace tessera {

std::size_t equalised_channels(const EqualisedPlace& place, const ModelShape& shape) {
  return place.name == "norm_f" ? place.count : place.count / shape.n_layer;
}

std::vector<EqualisedSide> equalised_sides(std::string_view place, const ModelShape& shape) {
  constexpr bool columns = true, rows = false, divided = true, multiplied = false;
  const std::size_t m = shape.head_size();
  const std::size_t half = m / 2;
  const std::size_t group_rows = shape.group() * m;
  const auto itself = [](std::size_t index) { return index; };
  std::vector<EqualisedSide> sides;
  const auto add_mlp = [&] {
    for (const ParameterId id : {w1, w_gate, w_up}) {
      sides.push_back({id, columns, multiplied, itself});
    }
  };
  if (place == "norm_1") {
    sides = {{gamma1, rows, divided, itself},
             {beta1, rows, divided, itself},
             {wq, columns, multiplied, itself},
             {wk, columns, multiplied, itself},
             {wv, columns, multiplied, itself}};
    if (shape.layers.branches == Branches::shared_norm) {
      add_mlp();
    }
  } else if (place == "norm_2") {
    sides = {{gamma2, rows, divided, itself}, {beta2, rows, divided, itself}};
    add_mlp();
  } else if (place == "product") {
    sides = {{w_up, rows, divided, itself}, {w_down, columns, multiplied, itself}};
  } else if (place == "value") {
    // all query heads of a group read the same values
    const auto read = [group_rows, m](std::size_t index) { return index / group_rows * m + index % m; };
    sides = {{wv, rows, divided, itself}, {bv, rows, divided, itself}, {wo, columns, multiplied, read}};
  } else if (place == "rotated" && shape.head_norm && !shape.norm_across_heads) {
    const auto pair = [half](std::size_t index) { return index % half; };
    sides = {{gamma_q, rows, divided, pair}, {gamma_k, rows, multiplied, pair}};
  } else if (place == "rotated") {
    // a rotation mixes the two halves, a score all query heads of a group with one key head
    const auto query = [group_rows, half](std::size_t index) { return index / group_rows * half + index % half; };
    const auto key = [m, half](std::size_t index) { return index / m * half + index % half; };
    if (shape.norm_across_heads) {
      sides = {{gamma_q, rows, divided, query}, {gamma_k, rows, multiplied, key}};
    } else {
      sides = {{wq, rows, divided, query},
               {bq, rows, divided, query},
               {wk, rows, multiplied, key},
               {bk, rows, multiplied, key}};
    }
  } else if (place == "norm_f") {
    sides = {{gammaf, rows, divided, itself}, {betaf, rows, divided, itself}, {head, columns, multiplied, itself}};
  } else {
    throw std::logic_error("equalisation: place " + std::string(place));
  }
  std::erase_if(sides, [&](const EqualisedSide& side) { return !has_parameter(shape, side.id); });
  return sides;
}

}  // namespace tessera
