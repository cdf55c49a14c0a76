"""Logarithms of probabilities by llama.cpp (xllamacpp): logits.py FILE.gguf IDS PROMPT.

Prints the perplexity of the token ids in the file IDS behind the first one, each predicted from those before it, and
what llama.cpp writes greedily behind PROMPT: 'perplexity X', then 'text ...' as JSON."""

import json
import math
import sys

import xllamacpp


def server(path):
    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.n_ctx = 512
    parameters.n_parallel = 1
    parameters.warmup = False
    parameters.cpuparams.n_threads = 2
    return xllamacpp.Server(parameters)


def complete(llama, prompt, tokens, probabilities=0):
    """`prompt`: text or ids."""
    request = {"prompt": prompt, "n_predict": tokens, "temperature": 0, "n_probs": probabilities}
    return llama.handle_completions(request)["choices"][0]


def main():
    path, ids_file, prompt = sys.argv[1:4]
    ids = [int(number) for number in open(ids_file, encoding="ascii").read().replace(",", " ").split()]
    llama = server(path)
    nll = 0.0
    for place in range(1, len(ids)):
        found = complete(llama, ids[:place], 1, 49152)["logprobs"]["content"][0]
        by_id = {entry["id"]: entry["logprob"] for entry in found["top_logprobs"]}
        nll -= by_id[ids[place]]
    print("perplexity", math.exp(nll / (len(ids) - 1)))
    print("text", json.dumps(complete(llama, prompt, 24)["text"]))


main()
