"""Remakes what tests read of GGUF, with the package gguf: blocks.json, the values of random blocks of some types;
digests.json, digests of the values of many blocks of every type; GGUF files of small checkpoints in half precision; llama/, a random checkpoint with a SentencePiece tokenizer and Llama
3's scaling of rotary positions, and its file.

usage: make.py CONFIGS     CONFIGS: the folder of the bundled models
"""

import hashlib
import json
import struct
import sys
from pathlib import Path

import gguf
import numpy as np

from convert import convert

HERE = Path(__file__).parent
TYPES = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_K", "Q6_K"]
SCALES = {"Q8_0": [0], "Q4_0": [0], "Q4_K": [0, 2], "Q6_K": [208]}  # where halves stand in a block
# the upper bytes of scales in a block, of which the second bit is cleared: they are finite
DIGESTS = {"F32": [3], "F16": [1], "BF16": [1], "Q4_0": [1], "Q4_1": [1, 3], "Q5_0": [1], "Q5_1": [1, 3], "Q8_0": [1],
           "Q8_1": [1, 3], "Q2_K": [81, 83], "Q3_K": [109], "Q4_K": [1, 3], "Q5_K": [1, 3], "Q6_K": [209], "Q8_K": [3],
           "IQ1_S": [1], "IQ1_M": [55], "IQ2_XXS": [1], "IQ2_XS": [1], "IQ2_S": [1], "IQ3_XXS": [1], "IQ3_S": [1],
           "IQ4_NL": [1], "IQ4_XS": [1], "TQ1_0": [53], "TQ2_0": [65], "MXFP4": [0], "NVFP4": []}
PIECES = ["\u2581", "e", "t", "a", "o", "i", "n", "s", "h", "r", "é", "th", "he", "in", "er", "an", "\u2581t", "\u2581a",
          "\u2581the", "the", "on", "aa", "aaa", "aaaa", "\u2581é", "hé", "thé", "ing", "and", "\u2581an", "re"]


def make_blocks():
    random = np.random.default_rng(7)
    result = {}
    for name in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        values, size = gguf.GGML_QUANT_SIZES[kind]
        count = 64 // values if values < 64 else 3
        blocks = random.integers(0, 256, (max(count, 4), size), dtype=np.uint8)
        if name in ("F32", "F16", "BF16"):
            floats = random.normal(0, 3, len(blocks)).astype(np.float32)
            blocks = gguf.quants.quantize(floats, kind).view(np.uint8).reshape(-1, size).copy()
        for place in SCALES.get(name, []):
            halves = random.normal(0, 0.02, len(blocks)).astype(np.float16)
            halves[0] = 3e-7  # a subnormal one
            blocks[:, place:place + 2] = halves.view(np.uint8).reshape(-1, 2)
        floats = gguf.quants.dequantize(blocks.reshape(1, -1), kind).astype(np.float32)
        result[name] = {"blocks": blocks.tobytes().hex(), "values": floats.tobytes().hex()}
    (HERE / "blocks.json").write_text(json.dumps(result, indent=1) + "\n")


def generated_blocks(size, places, count=1024):
    """Bytes of a linear congruential generator, as the test has it too."""
    state, blocks = 1, bytearray()
    for _ in range(count * size):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        blocks.append(state >> 56)
    for place in places:
        for start in range(0, count * size, size):
            blocks[start + place] &= 0xBF
    return np.frombuffer(bytes(blocks), dtype=np.uint8)


def values_of(blocks, name):
    if name == "Q8_1":  # the package has no values of this type and the next; a scale, a sum, the numbers
        parts = blocks.reshape(-1, 36)
        return parts[:, :2].copy().view(np.float16).astype(np.float32) * parts[:, 4:].view(np.int8).astype(np.float32)
    if name == "Q8_K":
        parts = blocks.reshape(-1, 292)
        return parts[:, :4].copy().view(np.float32) * parts[:, 4:260].view(np.int8).astype(np.float32)
    return gguf.quants.dequantize(blocks.reshape(1, -1), gguf.GGMLQuantizationType[name])


def make_digests():
    result = {}
    for name, places in DIGESTS.items():
        # the package gives Q8_1 floats of 4 bytes for its scale and sum, which are halves
        size = 36 if name == "Q8_1" else gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]][1]
        values = values_of(generated_blocks(size, places), name)
        assert values.dtype == np.float32 and np.isfinite(values).all(), name
        result[name] = {"finite": places, "sha256": hashlib.sha256(values.tobytes()).hexdigest()}
    (HERE / "digests.json").write_text(json.dumps(result, indent=1) + "\n")


def merges_of(vocabulary, scores):
    """As transformers derives them of a SentencePiece model."""
    merges = []
    for piece, score in scores.items():
        local = []
        for index in range(1, len(piece)):
            left, right = piece[:index], piece[index:]
            if left in vocabulary and right in vocabulary:
                local.append((left, right, score))
        merges.extend(sorted(local, key=lambda cut: (vocabulary[cut[0]], vocabulary[cut[1]])))
    merges.sort(key=lambda cut: (cut[2], len(cut[0]), len(cut[1])), reverse=True)
    return [f"{left} {right}" for left, right, _ in merges]


def make_tokenizer(folder):
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + PIECES
    vocabulary = {token: id for id, token in enumerate(tokens)}
    scores = {piece: -float(rank) for rank, piece in enumerate(PIECES)}
    mark = {"String": "\u2581"}
    special = {"type_id": 0}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": id, "content": tokens[id], "single_word": False, "lstrip": False, "rstrip": False,
                          "normalized": False, "special": True} for id in range(3)],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "\u2581"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
        "pre_tokenizer": None,
        "post_processor": {"type": "TemplateProcessing",
                           "single": [{"SpecialToken": {"id": "<s>", **special}}, {"Sequence": {"id": "A", **special}}],
                           "pair": [{"Sequence": {"id": "A", **special}}, {"Sequence": {"id": "B", **special}}],
                           "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": mark, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
                  "vocab": vocabulary, "merges": merges_of(vocabulary, scores)}}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False, indent=0) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"add_bos_token": True, "add_eos_token": False, "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
        indent=1) + "\n")
    return scores


def make_llama(folder, width=32, inner=48, size=8):
    random = np.random.default_rng(11)
    layers, heads, groups, vocabulary = 2, 4, 2, 292
    config = {"architectures": ["LlamaForCausalLM"], "bos_token_id": 1, "eos_token_id": 2, "head_dim": size,
              "hidden_act": "silu", "hidden_size": width, "intermediate_size": inner, "max_position_embeddings": 64,
              "model_type": "llama", "num_attention_heads": heads, "num_hidden_layers": layers,
              "num_key_value_heads": groups, "rms_norm_eps": 1e-5, "rope_theta": 500000.0,
              "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                               "original_max_position_embeddings": 8192},
              "tie_word_embeddings": False, "vocab_size": vocabulary}
    tensors = {"model.embed_tokens.weight": (vocabulary, width), "lm_head.weight": (vocabulary, width),
               "model.norm.weight": (width,)}
    for block in range(layers):
        prefix = f"model.layers.{block}."
        tensors |= {prefix + "input_layernorm.weight": (width,), prefix + "post_attention_layernorm.weight": (width,),
                    prefix + "self_attn.q_proj.weight": (heads * size, width),
                    prefix + "self_attn.k_proj.weight": (groups * size, width),
                    prefix + "self_attn.v_proj.weight": (groups * size, width),
                    prefix + "self_attn.o_proj.weight": (width, heads * size),
                    prefix + "mlp.gate_proj.weight": (inner, width), prefix + "mlp.up_proj.weight": (inner, width),
                    prefix + "mlp.down_proj.weight": (width, inner)}
    header, data = {}, b""
    for name, shape in tensors.items():
        values = random.normal(1 if "norm" in name else 0, 0.2, shape).astype(np.float16).tobytes()
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    folder.mkdir(exist_ok=True)
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    make_blocks()
    make_digests()
    for model in ["odd-40k", "odd-qwen-60k", "odd-qwen2-50k"]:
        convert(Path(sys.argv[1]) / model, HERE / f"{model}.gguf", "F16")
    make_llama(HERE / "llama")
    convert(HERE / "llama", HERE / "llama.gguf", "F16", make_tokenizer(HERE / "llama"))
