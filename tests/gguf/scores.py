"""Remakes scores.json: small vocabularies with scores of their own, with equal ones, and like Llama 2's, whose runs of
spaces have equal ones which an order of the merges can stand for, and what the package sentencepiece
makes of texts. Needs the packages sentencepiece and protobuf.

usage: scores.py
"""

import json
import random
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as model_pb2


def vocabulary(rng, kind):
    pieces = ["\u2581", "a", "b", "c", "\u00e9"]
    if kind == "spaces":
        pieces += ["\u2581a", "\u2581\u2581", "ab", "\u2581" * 4, "\u2581" * 8, "\u2581ab", "\u2581" * 16]
        runs = ["\u2581" * length for length in range(3, 16) if length not in (4, 8)]
        return pieces + runs, [-rank for rank in range(len(pieces))] + [-1e9] * len(runs)
    while len(pieces) < 30:
        piece = rng.choice(pieces) + rng.choice(pieces)
        if piece not in pieces and len(piece) < 7:
            pieces.append(piece)
    if kind == "distinct":
        return pieces, rng.sample(range(len(pieces)), len(pieces))
    return pieces, [-rng.randrange(3) for _ in pieces]


def processor(pieces, scores, prefix):
    model = model_pb2.ModelProto()
    model.trainer_spec.model_type = 2  # BPE
    model.trainer_spec.byte_fallback = True
    model.trainer_spec.pad_id = -1
    model.normalizer_spec.add_dummy_prefix = prefix
    model.normalizer_spec.remove_extra_whitespaces = False
    bytes_ = [(f"<0x{byte:02X}>", 0, 6) for byte in range(256)]
    for piece, score, kind in [("<unk>", 0, 2), ("<s>", 0, 3), ("</s>", 0, 3), *bytes_,
                               *((piece, score, 1) for piece, score in zip(pieces, scores))]:
        model.pieces.add(piece=piece, score=score, type=kind)
    return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())


def main():
    rng = random.Random(5)
    cases = []
    for kind in ("distinct", "equal", "spaces"):
        for prefix in (True, False):
            pieces, scores = vocabulary(rng, kind)
            texts = ["".join(rng.choice("abc\u00e9  ") for _ in range(rng.randrange(1, 24))) for _ in range(60)]
            texts += ["\u65e5 aa", "\n", *(" " * length + "ab" for length in range(1, 40))]
            encode = processor(pieces, scores, prefix).encode
            cases.append({"prefix": prefix, "tied": kind == "equal", "pieces": pieces, "scores": scores, "texts": texts,
                          "ids": [encode(text) for text in texts]})
    text = json.dumps(cases, ensure_ascii=False).replace('"pieces"', '\n"pieces"').replace('"texts"', '\n"texts"')
    (Path(__file__).parent / "scores.json").write_text(text.replace('"ids"', '\n"ids"') + "\n")


main()
