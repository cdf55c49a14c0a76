#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// A type of GGUF tensors: blocks of `values` values in `bytes` bytes.
struct GgufType {
  std::uint32_t number = 0;
  std::string_view name;
  std::size_t values = 1, bytes = 0;
  /// Blocks to floats, exactly as ggml defines the type: every product and difference is rounded to float32 by itself.
  void (*dequantize)(const std::uint8_t* blocks, std::size_t count, float* values) = nullptr;
};

/// F32, F16, BF16, Q8_0, Q4_0, Q4_K and Q6_K; none for others.
const GgufType* find_gguf_type(std::uint32_t number);
const GgufType& gguf_type_of(std::string_view name);
/// What ggml calls the type of a number, for messages; the number where it has no name.
std::string gguf_type_name(std::uint32_t number);
/// "F32, F16, ... or Q6_K".
std::string gguf_type_names();

}  // namespace tessera
