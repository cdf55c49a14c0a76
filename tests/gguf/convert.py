"""Writes a checkpoint folder as a GGUF file, as llama.cpp's converter lays it out, with the package gguf.

usage: convert.py FOLDER OUT.gguf TYPE     TYPE: F32, F16, BF16, Q8_0, Q4_0; vectors and norms are F32
"""

import json
import struct
import sys
from pathlib import Path

import gguf
import numpy as np

ARCHITECTURES = {"gpt2": gguf.MODEL_ARCH.GPT2, "llama": gguf.MODEL_ARCH.LLAMA, "mistral": gguf.MODEL_ARCH.LLAMA,
                 "qwen2": gguf.MODEL_ARCH.QWEN2, "qwen3": gguf.MODEL_ARCH.QWEN3}
SPLITS = {r"\p{N}{1,3}": "llama-bpe", r"\p{N}|": "qwen2"}


def read_safetensors(path):
    """Name -> array; BF16 as float32."""
    data = path.read_bytes()
    length = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:8 + length])
    arrays = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        raw = data[begin:end]
        if entry["dtype"] == "BF16":
            values = (np.frombuffer(raw, np.uint16).astype(np.uint32) << 16).view(np.float32)
        else:
            values = np.frombuffer(raw, {"F16": np.float16, "F32": np.float32}[entry["dtype"]])
        arrays[name] = values.reshape(entry["shape"])
    return arrays


def permute(weights, heads):
    """Rows of a head from (half, place) to (place, half)."""
    return weights.reshape(heads, 2, weights.shape[0] // heads // 2, *weights.shape[1:]).swapaxes(1, 2).reshape(
        weights.shape)


def llama3_factors(theta, dimensions, scaling):
    frequencies = 1.0 / (theta**(np.arange(0, dimensions, 2, dtype=np.float32) / np.float32(dimensions)))
    factor, low, high = scaling["factor"], scaling["low_freq_factor"], scaling["high_freq_factor"]
    positions = scaling["original_max_position_embeddings"]
    factors = []
    for frequency in frequencies:
        length = 2 * np.pi / frequency
        if length < positions / high:
            factors.append(1)
        elif length > positions / low:
            factors.append(factor)
        else:
            smooth = (positions / length - low) / (high - low)
            factors.append(1 / ((1 - smooth) / factor + smooth))
    return np.array(factors, dtype=np.float32)


def write_gpt2_sizes(writer, config):
    writer.add_block_count(config["n_layer"])
    writer.add_context_length(config["n_positions"])
    writer.add_embedding_length(config["n_embd"])
    writer.add_feed_forward_length(config.get("n_inner") or 4 * config["n_embd"])
    writer.add_head_count(config["n_head"])
    writer.add_layer_norm_eps(config["layer_norm_epsilon"])


def write_llama_sizes(writer, config):
    writer.add_vocab_size(config["vocab_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])
    size = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    writer.add_key_length(size)
    writer.add_value_length(size)
    writer.add_rope_dimension_count(size)
    scaling = config.get("rope_scaling") or {}
    if scaling.get("rope_type") == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(scaling["factor"])
    if scaling.get("rope_type") == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_factors(config["rope_theta"], size, scaling))


def write_tensors(writer, model_type, config, arrays, kind):
    blocks = config.get("n_layer") or config["num_hidden_layers"]
    names = gguf.get_tensor_name_map(ARCHITECTURES[model_type], blocks)
    for name, values in arrays.items():
        if model_type == "gpt2" and name.endswith((".c_attn.weight", ".c_proj.weight", ".c_fc.weight")):
            values = values.T
        if model_type in ("llama", "mistral") and name.endswith("q_proj.weight"):
            values = permute(values, config["num_attention_heads"])
        if model_type in ("llama", "mistral") and name.endswith("k_proj.weight"):
            values = permute(values, config["num_key_value_heads"])
        stored = names.get_name(name, try_suffixes=(".weight", ".bias"))
        values = np.ascontiguousarray(values, dtype=np.float32)
        block = gguf.GGML_QUANT_SIZES[kind][0]
        flat = values.ndim == 1 or stored.endswith("_norm.weight") or values.shape[-1] % block != 0
        used = gguf.GGMLQuantizationType.F32 if flat else kind
        writer.add_tensor(stored, gguf.quants.quantize(values, used), raw_dtype=used)


def write_byte_level(writer, folder, tokenizer, size):
    """Tokens of a byte-level BPE, with their types."""
    writer.add_tokenizer_model("gpt2")
    added = {}
    if tokenizer is None:
        vocabulary = json.loads((folder / "vocab.json").read_text())
        added[vocabulary["<|endoftext|>"]] = "<|endoftext|>"
        writer.add_tokenizer_pre("gpt-2")
    else:
        vocabulary = tokenizer["model"]["vocab"]
        added = {token["id"]: token["content"] for token in tokenizer["added_tokens"]}
        split = json.dumps(tokenizer["pre_tokenizer"]).replace("\\\\", "\\")
        writer.add_tokenizer_pre(next((name for mark, name in SPLITS.items() if mark in split),
                                      "smollm" if "Digits" in split else "gpt-2"))
    by_id = {id: token for token, id in vocabulary.items()}
    tokens, types = [], []
    for id in range(size):
        kind = gguf.TokenType.CONTROL if id in added else gguf.TokenType.NORMAL
        tokens.append(added.get(id) or by_id.get(id) or f"[PAD{id}]")
        types.append(kind if id in added or id in by_id else gguf.TokenType.UNUSED)
    writer.add_token_list(tokens)
    writer.add_token_types(types)


def write_sentencepiece(writer, tokenizer, scores, size):
    """Tokens of a SentencePiece BPE: scores by piece."""
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    by_id = {id: token for token, id in tokenizer["model"]["vocab"].items()}
    added = {token["id"] for token in tokenizer["added_tokens"]}
    tokens, types, values = [], [], []
    for id in range(size):
        token = by_id.get(id, f"[PAD{id}]")
        tokens.append(token)
        values.append(scores.get(token, 0.0))
        if id not in by_id:
            types.append(gguf.TokenType.UNUSED)
        elif id in added:
            types.append(gguf.TokenType.UNKNOWN if token == "<unk>" else gguf.TokenType.CONTROL)
        else:
            types.append(gguf.TokenType.BYTE if token.startswith("<0x") else gguf.TokenType.NORMAL)
    writer.add_token_list(tokens)
    writer.add_token_scores(values)
    writer.add_token_types(types)


def write_tokenizer(writer, folder, config, scores):
    size = config["vocab_size"]
    tokenizer = None
    if (folder / "tokenizer.json").exists():
        tokenizer = json.loads((folder / "tokenizer.json").read_text())
    if scores is not None:
        write_sentencepiece(writer, tokenizer, scores, size)
    else:
        write_byte_level(writer, folder, tokenizer, size)
    special = gguf.SpecialVocab(folder, load_merges=scores is None, n_vocab=size)
    if scores is None and not special.merges:
        special.merges = (folder / "merges.txt").read_text().splitlines()[1:]
    special.add_to_gguf(writer)


def convert(folder, out, kind_name, scores=None):
    config = json.loads((folder / "config.json").read_text())
    model_type = config["model_type"]
    weights = next(path for path in sorted(folder.glob("*.safetensors")))
    writer = gguf.GGUFWriter(out, gguf.MODEL_ARCH_NAMES[ARCHITECTURES[model_type]])
    writer.add_type("model")
    writer.add_name(folder.name)
    (write_gpt2_sizes if model_type == "gpt2" else write_llama_sizes)(writer, config)
    kind = gguf.GGMLQuantizationType[kind_name]
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    write_tensors(writer, model_type, config, read_safetensors(weights), kind)
    write_tokenizer(writer, folder, config, scores)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    convert(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
