#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arithmetic/rotary_table.hpp"
#include "arithmetic/tables.hpp"
#include "plan/parameters.hpp"

namespace tessera {

/// What a model's parameters were read from. For people: nothing depends on it.
struct Origin {
  struct File {
    std::string name;  // without folder
    std::uint64_t bytes = 0;
    std::array<std::uint8_t, 32> sha256{};
    friend bool operator==(const File&, const File&) = default;
  };
  std::string format;  // "safetensors", "GGUF"; empty: no checkpoint
  std::vector<File> files;
  std::map<std::string, std::uint64_t> tensor_types;  // as the format calls them -> number of tensors
  friend bool operator==(const Origin&, const Origin&) = default;
};

/// Constants of a checkpoint's model that its parameters take in: 1 of most.
struct ParameterFactors {
  ByParameter<double> values;
  ByParameter<std::vector<double>> blocks;  // another one for each block; empty: there is none
  ParameterFactors() { values.fill(1.0); }
  [[nodiscard]] double& operator[](ParameterId id) { return values[id]; }
  [[nodiscard]] double operator[](ParameterId id) const { return values[id]; }
  [[nodiscard]] double of_block(ParameterId id, std::size_t block) const {
    return blocks[id].empty() ? 1 : blocks[id][block];
  }
};

/// c of c*tanh(x/c), which scores before soft-max and logits go through; 0: they do not.
struct SoftCaps {
  double scores = 0, logits = 0;
};
inline constexpr double most_cap = 1e5;

/// A checkpoint as it was trained.
struct FloatModel {
  ModelShape shape;
  double layer_norm_epsilon = 1e-5;
  FloatParameters parameters;
  std::vector<Rope> ropes = {};  // with rotary positions: of each of the shape's rotations
  ActivationKind activation = ActivationKind::gelu;
  ParameterFactors factors = {};
  SoftCaps caps = {};

  /// What a parameter's values are divided by wherever they are used, but for its blocks' factors: factors and
  /// 1/sqrt(m) folded in.
  [[nodiscard]] double divisor(const ParameterRow& row) const { return row.divisor(shape) / factors[row.id]; }
};

}  // namespace tessera
