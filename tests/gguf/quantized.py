"""Writes a random model of the Llama family twice: as a GGUF file with quantized matrices, and as a folder in float32
with the values that the package gguf makes of them.

usage: quantized.py FOLDER OUT.gguf TYPE     TYPE: of the package's, in capitals
"""

import json
import struct
import sys
from pathlib import Path

import gguf
import numpy as np

import make
from convert import read_safetensors, write_llama_sizes, write_sentencepiece



def scaled_blocks(random, count, kind):
    """Random blocks of a type that the package cannot quantize to, of values of about 0.05."""
    size = gguf.GGML_QUANT_SIZES[kind][1]
    places = [55] if kind.name == "IQ1_M" else make.DIGESTS[kind.name]
    blocks = random.integers(0, 256, (count, size), dtype=np.uint8)
    if kind.name == "NVFP4":  # four scales of 8 bits
        blocks[:, :4] = random.integers(4, 20, (count, 4))
        return blocks

    def set_scales(deviation):
        for place in places:
            halves = random.normal(0, deviation, count).astype(np.float16).view(np.uint16)
            if kind.name == "IQ1_M":  # the upper halves of four words' upper bytes
                for word in range(4):
                    blocks[:, 49 + 2 * word] &= 15
                    blocks[:, 49 + 2 * word] |= ((halves >> (4 * word) & 15) << 4).astype(np.uint8)
            else:
                blocks[:, place - 1:place + 1] = halves.view(np.uint8).reshape(-1, 2)

    set_scales(1e-2)
    set_scales(1e-2 * 0.05 / np.sqrt(np.mean(np.square(gguf.quants.dequantize(blocks.reshape(1, -1), kind)))))
    return blocks


def quantized(random, values, kind):
    try:
        return gguf.quants.quantize(values, kind)
    except NotImplementedError:
        blocks = scaled_blocks(random, values.size // gguf.GGML_QUANT_SIZES[kind][0], kind)
        return blocks.reshape(*values.shape[:-1], -1)


def write_safetensors(path, arrays):
    header, data = {}, []
    offset = 0
    for name, values in arrays.items():
        header[name] = {"dtype": "F32", "shape": values.shape, "data_offsets": [offset, offset + values.nbytes]}
        data.append(values.tobytes())
        offset += values.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))


def main(folder, out, kind):
    make.make_llama(folder, width=256, inner=512, size=64)
    scores = make.make_tokenizer(folder)
    config = json.loads((folder / "config.json").read_text())
    arrays = read_safetensors(folder / "model.safetensors")
    writer = gguf.GGUFWriter(out, "llama")
    write_llama_sizes(writer, config)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    random = np.random.default_rng(3)
    for name, values in arrays.items():
        values = values.astype(np.float32)
        used = gguf.GGMLQuantizationType.F32 if values.ndim == 1 else kind
        stored = quantized(random, values, kind) if values.ndim == 2 else values
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), stored, raw_dtype=used)
        values = gguf.quants.dequantize(stored, used).astype(np.float32).reshape(values.shape)
        for part, heads in (("q_proj", config["num_attention_heads"]), ("k_proj", config["num_key_value_heads"])):
            if part in name:  # the file's rows are interleaved
                values = values.reshape(heads, -1, 2, values.shape[1]).swapaxes(1, 2).reshape(values.shape)
        arrays[name] = np.ascontiguousarray(values)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    write_sentencepiece(writer, tokenizer, scores, config["vocab_size"])
    gguf.SpecialVocab(folder, n_vocab=config["vocab_size"]).add_to_gguf(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    write_safetensors(folder / "model.safetensors", arrays)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), gguf.GGMLQuantizationType[sys.argv[3]])
