#include "checkpoints/gguf/blocks.hpp"

#include <algorithm>
#include <array>

#include "checkpoints/gguf/block_decoders.hpp"

namespace tessera {
namespace {

using namespace gguf_blocks;

constexpr std::array<GgufType, 28> types{{{0, "F32", 1, 4, from_f32},
                                          {1, "F16", 1, 2, from_f16},
                                          {30, "BF16", 1, 2, from_bf16},
                                          {2, "Q4_0", small_block, 18, from_q4_0},
                                          {3, "Q4_1", small_block, 20, from_q4_1},
                                          {6, "Q5_0", small_block, 22, from_q5_0},
                                          {7, "Q5_1", small_block, 24, from_q5_1},
                                          {8, "Q8_0", small_block, 34, from_q8_0},
                                          {9, "Q8_1", small_block, 36, from_q8_1},
                                          {10, "Q2_K", super_block, 84, from_q2_k},
                                          {11, "Q3_K", super_block, 110, from_q3_k},
                                          {12, "Q4_K", super_block, 144, from_q4_k},
                                          {13, "Q5_K", super_block, 176, from_q5_k},
                                          {14, "Q6_K", super_block, 210, from_q6_k},
                                          {15, "Q8_K", super_block, 292, from_q8_k},
                                          {19, "IQ1_S", super_block, 50, from_iq1_s},
                                          {29, "IQ1_M", super_block, 56, from_iq1_m},
                                          {16, "IQ2_XXS", super_block, 66, from_iq2_xxs},
                                          {17, "IQ2_XS", super_block, 74, from_iq2_xs},
                                          {22, "IQ2_S", super_block, 82, from_iq2_s},
                                          {18, "IQ3_XXS", super_block, 98, from_iq3_xxs},
                                          {21, "IQ3_S", super_block, 110, from_iq3_s},
                                          {20, "IQ4_NL", small_block, 18, from_iq4_nl},
                                          {23, "IQ4_XS", super_block, 136, from_iq4_xs},
                                          {34, "TQ1_0", super_block, 54, from_tq1_0},
                                          {35, "TQ2_0", super_block, 66, from_tq2_0},
                                          {39, "MXFP4", small_block, 17, from_mxfp4},
                                          {40, "NVFP4", 64, 36, from_nvfp4}}};

/// Names of ggml's types by number; empty where there is none, or no longer one.
constexpr std::string_view all_names[] = {
    "F32",   "F16",    "Q4_0",  "Q4_1", "",     "",        "Q5_0",   "Q5_1",    "Q8_0",  "Q8_1",   "Q2_K",
    "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K", "Q8_K", "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S",
    "IQ2_S", "IQ4_XS", "I8",    "I16",  "I32",  "I64",     "F64",    "IQ1_M",   "BF16",  "",       "",
    "",      "TQ1_0",  "TQ2_0", "",     "",     "",        "MXFP4",  "NVFP4",   "Q1_0"};

}  // namespace

const GgufType* find_gguf_type(std::uint32_t number) {
  const auto* const found = std::ranges::find(types, number, &GgufType::number);
  return found == types.end() ? nullptr : found;
}

const GgufType& gguf_type_of(std::string_view name) { return *std::ranges::find(types, name, &GgufType::name); }

std::string gguf_type_name(std::uint32_t number) {
  const bool known = number < std::size(all_names) && !all_names[number].empty();
  return known ? std::string(all_names[number]) : "number " + std::to_string(number);
}

std::string gguf_type_names() {
  std::string names;
  for (const GgufType& type : types) {
    names += (names.empty() ? "" : &type == &types.back() ? " or " : ", ") + std::string(type.name);
  }
  return names;
}

}  // namespace tessera
