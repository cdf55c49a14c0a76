#include "checkpoints/gguf/architectures.hpp"

namespace tessera {
namespace {

constexpr Layers plain_layers{Positions::rotary,    NormKind::layer, NormPlace::before,
                              Branches::sequential, MlpKind::plain,  true};

constexpr Layers with(Layers layers, auto change) {
  change(layers);
  return layers;
}

constexpr GgufArchitecture architectures[] = {
    {.name = "llama", .interleaved = true},
    {.name = "qwen2", .qkv_bias = true},
    {.name = "qwen3", .head_norm = true},
    {.name = "smollm3", .interleaved = true},
    {.name = "granite", .interleaved = true},
    {.name = "olmo2",
     .layers = with(rotary_layers, [](Layers& layers) { layers.norm_place = NormPlace::after; }),
     .head_norm = true,
     .across_heads = true,
     .unbounded = 4,  // OLMo 3
     .local_angles = true},
    {.name = "phi2",
     .layers = with(plain_layers, [](Layers& layers) { layers.branches = Branches::shared_norm; }),
     .qkv_bias = true,
     .head_bias = true,
     .activation = ActivationKind::gelu},
    {.name = "phi3", .fused_qkv = true, .fused_gate = true},
    {.name = "gptneox",
     .layers = with(plain_layers, [](Layers& layers) { layers.branches = Branches::parallel; }),
     .qkv_bias = true,
     .activation = ActivationKind::erf_gelu,
     .fused_qkv = true},
    {.name = "starcoder2", .layers = plain_layers, .qkv_bias = true, .activation = ActivationKind::gelu},
    {.name = "stablelm", .layers = with(rotary_layers, [](Layers& layers) { layers.norm = NormKind::layer; })},
    {.name = "gemma", .activation = ActivationKind::gelu},
    {.name = "gemma2",
     .layers = with(rotary_layers, [](Layers& layers) { layers.norm_place = NormPlace::around; }),
     .activation = ActivationKind::gelu,
     .unbounded = 2},
    {.name = "gemma3",
     .layers = with(rotary_layers, [](Layers& layers) { layers.norm_place = NormPlace::around; }),
     .head_norm = true,
     .activation = ActivationKind::gelu,
     .unbounded = 6,
     .local_angles = true}};

}  // namespace

std::span<const GgufArchitecture> gguf_architectures() { return architectures; }

TensorNames gguf_names(const ModelShape& shape) {
  TensorNames names;
  names.block = "blk.";
  names.places = {{embedding, {"token_embd.weight"}},
                  {position, {"position_embd.weight"}},
                  {wq, {"attn_q.weight"}},
                  {wk, {"attn_k.weight"}},
                  {wv, {"attn_v.weight"}},
                  {wo, {"attn_output.weight"}},
                  {w1, {"ffn_up.weight"}},
                  {w2, {"ffn_down.weight"}},
                  {w_gate, {"ffn_gate.weight"}},
                  {w_up, {"ffn_up.weight"}},
                  {w_down, {"ffn_down.weight"}},
                  {bq, {"attn_q.bias"}},
                  {bk, {"attn_k.bias"}},
                  {bv, {"attn_v.bias"}},
                  {bo, {"attn_output.bias"}},
                  {b1, {"ffn_up.bias"}},
                  {b2, {"ffn_down.bias"}},
                  {gamma_q, {"attn_q_norm.weight"}},
                  {gamma_k, {"attn_k_norm.weight"}},
                  {gamma_o, {"post_attention_norm.weight"}},
                  {gamma_m, {"post_ffw_norm.weight"}},
                  {gamma1, {"attn_norm.weight"}},
                  {beta1, {"attn_norm.bias"}},
                  {gamma2, {"ffn_norm.weight"}},
                  {beta2, {"ffn_norm.bias"}},
                  {gammaf, {"output_norm.weight"}},
                  {betaf, {"output_norm.bias"}},
                  {head, {"output.weight"}},
                  {head_bias, {"output.bias"}}};
  if (shape.tied) {
    names.tied_head = "output.weight";
  }
  return names;
}

void fuse_qkv(TensorNames& names) {
  for (const ParameterId id : {wq, wk, wv}) {
    names.places[id] = {"attn_qkv.weight", false, {wq, wk, wv}};
  }
  for (const ParameterId id : {bq, bk, bv}) {
    names.places[id] = {"attn_qkv.bias", false, {bq, bk, bv}};
  }
}

}  // namespace tessera
