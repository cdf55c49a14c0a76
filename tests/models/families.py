"""Tiny random models of each family as the reference implementation (transformers) writes them, and its results.

families.py list                         the names of the models
families.py make TOKENIZER FOLDER...     writes a model with the tokenizer of the folder TOKENIZER into each FOLDER, whose
                                         last part is a name of the list
families.py truth TEXT FOLDER...         what transformers computes of parts of the text, everything in float64:
                                         FOLDER/truth.json, prompts with their logarithms of sums of exponentials and
                                         greedy continuations; FOLDER/logits.f64, all logits of the prompts, then those
                                         that the continuations were chosen by, (position, vocabulary)
families.py greedy FOLDER PROMPT IDS MOST
                                         compares ids with a continuation: prints how many are equal and by how much
                                         float64 prefers its token where they part; exit code 1 if by more than MOST
"""

import json
import shutil
import struct
import sys
import zlib
from pathlib import Path

VOCABULARY = 2051  # three more than the tokenizer's
GENERATED = 24
PROMPTS = ((0, 12), (40, 45), (100, 200))  # tokens of the text: the last one longer than windows

LLAMA = {"hidden_size": 80, "intermediate_size": 176, "num_hidden_layers": 4, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "tie_word_embeddings": False}
GROUPED = {key: LLAMA[key] for key in LLAMA if key != "rms_norm_eps"}
EVERY = {key: GROUPED[key] for key in GROUPED if key != "num_key_value_heads"}  # each head has its own keys
GEMMA = LLAMA | {"head_dim": 24, "tie_word_embeddings": True, "hidden_activation": "gelu_pytorch_tanh"}
WINDOW = {"sliding_window": 40}
PLACES = ["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"]


def rope(theta=10000.0, kind="default", **more):
    return {"rope_parameters": {"rope_theta": theta, "rope_type": kind} | more}


FAMILIES = {
    "gemma": ("gemma", GEMMA | {"num_key_value_heads": 1}),
    "gemma2": ("gemma2", GEMMA | WINDOW | {"query_pre_attn_scalar": 24, "attn_logit_softcapping": 50.0,
                                           "final_logit_softcapping": 30.0}),
    "gemma3_text": ("gemma3_text", GEMMA | WINDOW | {
        "vocab_size": 2048, "num_hidden_layers": 7, "layer_types": 5 * PLACES[:1] + PLACES[2:],
        "query_pre_attn_scalar": 24, "rope_parameters": {
            "full_attention": {"rope_theta": 1e6, "rope_type": "linear", "factor": 8.0},
            "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"}}}),
    "gemma3_scores": ("gemma3_text", GEMMA | WINDOW | {"layer_types": PLACES, "query_pre_attn_scalar": 30}),
    "gpt2": ("gpt2", {"n_embd": 80, "n_layer": 4, "n_head": 4, "n_inner": 320, "n_positions": 256}),
    "gpt_neox": ("gpt_neox", EVERY | rope(partial_rotary_factor=0.3)),
    "gpt_neox_sequential": ("gpt_neox", EVERY | rope(partial_rotary_factor=0.5) | {"use_parallel_residual": False}),
    "granite": ("granite", LLAMA | {"tie_word_embeddings": True, "embedding_multiplier": 12.0, "logits_scaling": 6.0,
                                    "residual_multiplier": 0.22, "attention_multiplier": 0.09}),
    "granite_untied": ("granite", LLAMA | {"embedding_multiplier": 3.0, "logits_scaling": 2.0,
                                           "residual_multiplier": 0.4, "attention_multiplier": 0.2}),
    "llama_yarn": ("llama", LLAMA | rope(5e5, "yarn", factor=4.0, original_max_position_embeddings=64)),
    "llama_llama3": ("llama", LLAMA | rope(5e5, "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                           original_max_position_embeddings=1024)),
    "mistral": ("mistral", LLAMA | WINDOW | {"head_dim": 24}),
    "olmo2": ("olmo2", LLAMA | rope(5e5)),
    "olmo3": ("olmo3", LLAMA | WINDOW | {"layer_types": PLACES}),
    "olmo3_yarn": ("olmo3", LLAMA | WINDOW | {"layer_types": PLACES, "rope_parameters": {
        "full_attention": {"rope_theta": 5e5, "rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 64,
                           "attention_factor": 1.2079441541679836, "beta_fast": 32.0, "beta_slow": 1.0},
        "sliding_attention": {"rope_theta": 5e5, "rope_type": "default"}}}),
    "opt": ("opt", {"hidden_size": 80, "word_embed_proj_dim": 80, "ffn_dim": 176, "num_hidden_layers": 4,
                    "num_attention_heads": 4, "max_position_embeddings": 256}),
    "phi": ("phi", EVERY | {"intermediate_size": 320} | rope(partial_rotary_factor=0.5)),
    "phi3": ("phi3", LLAMA | rope(partial_rotary_factor=0.5)),
    "phi3_longrope": ("phi3", LLAMA | {"original_max_position_embeddings": 256} | rope(
        10000.0, "longrope", short_factor=[1.0 + pair / 32 for pair in range(10)], factor=1.0,
        long_factor=[2.0 + 0.5 * pair for pair in range(10)], original_max_position_embeddings=256)),
    "qwen2": ("qwen2", LLAMA | rope(1e6)),
    "qwen3": ("qwen3", LLAMA | rope(1e6) | {"head_dim": 24, "tie_word_embeddings": True}),
    "smollm3": ("smollm3", LLAMA | rope(2e6) | {"no_rope_layers": [1, 1, 1, 0], "tie_word_embeddings": True}),
    "smollm3_listed": ("smollm3", LLAMA | rope(2e6) | {"no_rope_layers": [1, 0, 0, 1], "tie_word_embeddings": True}),
    "smollm3_yarn": ("smollm3", LLAMA | rope(2e6, "yarn", factor=4.0, original_max_position_embeddings=64) | {
        "no_rope_layers": [1, 1, 1, 0]}),
    "stablelm": ("stablelm", GROUPED | rope(partial_rotary_factor=0.5) | {"use_qkv_bias": True}),
    "starcoder2": ("starcoder2", GROUPED | {"sliding_window": None, "tie_word_embeddings": True}),
    "starcoder2_window": ("starcoder2", GROUPED | WINDOW),
}


def randomize(model, gain):
    """Gains far from `gain`, biases far from 0, products that neither grow nor vanish."""
    import torch

    for name, values in model.named_parameters():
        noise = torch.randn(values.shape, dtype=torch.float64)
        if values.dim() == 1:
            noise = 0.2 * noise if name.endswith("bias") else gain + 0.28 * noise
        elif "embed" in name or "wte" in name or "wpe" in name:
            noise *= 0.18
        else:
            noise *= 1.3 / values.shape[-1] ** 0.5
        values.data.copy_(noise)


def make(tokenizer, folder):
    import torch
    import transformers

    kind, fields = FAMILIES[folder.name]
    torch.manual_seed(zlib.crc32(folder.name.encode()))
    fields = {"vocab_size": VOCABULARY, "bos_token_id": 2046, "eos_token_id": 2047, "pad_token_id": None} | fields
    config = transformers.AutoConfig.for_model(kind, **fields)
    model = transformers.AutoModelForCausalLM.from_config(config)
    randomize(model, 0 if kind.startswith("gemma") else 1)
    model.to(torch.bfloat16).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tokenizer / name, folder)


def true_float64():
    """From here on nothing is rounded to float32: models cast norms, rotations and soft-max to it whatever their type."""
    import torch

    torch.float = torch.float32 = torch.float64
    torch.Tensor.float = torch.Tensor.double
    torch.set_default_dtype(torch.float64)


def truth(text, folder):
    import tokenizers
    import torch
    import transformers

    ids = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text, add_special_tokens=False).ids
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager")
    model.double().eval()

    def logits_of(tokens):
        return model(torch.tensor([tokens]), use_cache=False).logits[0]

    prompts, rows, choices = [], [], []
    with torch.no_grad():
        for first, last in PROMPTS:
            prompt, chosen = ids[first:last], []
            logits = logits_of(prompt)
            rows.append(logits)
            for _ in range(GENERATED):
                choices.append(logits_of(prompt + chosen)[-1:])
                chosen.append(int(choices[-1].argmax()))
            prompts.append({"ids": prompt, "logsumexp": torch.logsumexp(logits, -1).tolist(), "greedy": chosen})
    (folder / "truth.json").write_text(json.dumps({"vocabulary": logits.shape[-1], "prompts": prompts}) + "\n")
    (folder / "logits.f64").write_bytes(torch.cat(rows + choices).numpy().astype("<f8").tobytes())


def greedy(folder, prompt, found, most):
    truth_file = json.loads((folder / "truth.json").read_text())
    prompts, vocabulary = truth_file["prompts"], truth_file["vocabulary"]
    expected = prompts[prompt]["greedy"]
    assert len(found) == len(expected) == GENERATED, found
    equal = next((place for place in range(GENERATED) if found[place] != expected[place]), GENERATED)
    if equal == GENERATED:
        print(GENERATED)
        return 0
    row = sum(len(each["ids"]) for each in prompts) + prompt * GENERATED + equal
    data = (folder / "logits.f64").read_bytes()
    logit = [struct.unpack_from("<d", data, 8 * (row * vocabulary + ids[equal]))[0] for ids in (expected, found)]
    margin = logit[0] - logit[1]
    print(f"{equal}, where they part float64 prefers its token by {margin:.1e}")
    return 0 if 0 <= margin <= most else 1


def main(command, *arguments):
    if command == "list":
        print(*FAMILIES, sep="\n")
    elif command == "make":
        for folder in arguments[1:]:
            make(Path(arguments[0]), Path(folder))
    elif command == "truth":
        true_float64()
        text = Path(arguments[0]).read_text(encoding="utf-8")
        for folder in arguments[1:]:
            truth(text, Path(folder))
    elif command == "greedy":
        ids = [int(number) for number in arguments[2].split(",")]
        return greedy(Path(arguments[0]), int(arguments[1]), ids, float(arguments[3]))
    return 0


sys.exit(main(*sys.argv[1:]))
