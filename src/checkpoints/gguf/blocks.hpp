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

/// All types of ggml's that stand for real numbers but F64 and Q1_0: those of gguf_type_names(); none for others.
const GgufType* find_gguf_type(std::uint32_t number);
const GgufType& gguf_type_of(std::string_view name);
/// What ggml calls the type of a number, for messages; the number where it has no name.
std::string gguf_type_name(std::uint32_t number);
/// "F32, F16, ... or NVFP4".
std::string gguf_type_names();

}  // namespace tessera
