#!/usr/bin/env python3
"""corpus.py PROGRAMS SOURCE OUT: files for tests of the page's verifier.

OUT/keys, OUT/proofs: golden and false ones (craft), and such as are damaged at many places, in the data and in the
structures of HDF5. OUT/damaged_keys likewise. Every choice is seeded. OUT/renewals: keys of three hiding commitments, the
renewals from one to the next, true and false, and proofs. OUT/chats: a model with a chat template, sampled proofs and ids.
"""
import gzip
import json
import pathlib
import random
import shutil
import subprocess
import sys

programs, source, out = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(source / "tests/python"))
from false_files import change_last  # noqa: E402

golden = source / "tests/golden"
keys, proofs, damaged_keys = (out / name for name in ("keys", "proofs", "damaged_keys"))
for folder in (keys, proofs, damaged_keys):
    folder.mkdir(parents=True)
random.seed(1)


def craft(*arguments):
    subprocess.run([programs / "tests/craft", *map(str, arguments)], check=True)


def damage(whole, folder, name, cases):
    """Flipped bits everywhere and, for every second file, where structures are: far from long runs of data."""
    marks = [at for signature in (b"OHDR", b"OCHK", b"FRHP", b"FHDB", b"BTHD", b"BTLF", b"FSHD")
             for at in range(len(whole)) if whole.startswith(signature, at)]
    for case in range(cases):
        bytes_ = bytearray(whole)
        for _ in range(1 + case % 3):
            at = random.randrange(len(whole)) if case % 2 else min(len(whole) - 1, random.choice(marks) + random.randrange(512))
            bytes_[at] ^= 1 << random.randrange(8)
        (folder / f"{name}-flip{case:03}.h5").write_bytes(bytes_)
    for case in range(cases // 8):
        (folder / f"{name}-cut{case:03}.h5").write_bytes(whole[:random.randrange(len(whole))])
    for at in (0, 8, 9, 11, 12, 20, 28, 36, 44):  # fields of the superblock
        bytes_ = bytearray(whole)
        bytes_[at] ^= 1
        (folder / f"{name}-superblock{at:02}.h5").write_bytes(bytes_)
    (folder / f"{name}-longer.h5").write_bytes(whole + b"more")


for model in ("odd-40k", "odd-qwen-60k"):
    (keys / f"{model}.key").write_bytes(gzip.decompress((golden / f"{model}.key.gz").read_bytes()))
    damage((keys / f"{model}.key").read_bytes(), damaged_keys, model, 80)
names = {}
for file in sorted(golden.glob("*.proof*")):
    names[file.name] = proofs / f"{file.name.replace('.', '-')}.h5"
    shutil.copyfile(file, names[file.name])
    damage(file.read_bytes(), proofs, names[file.name].stem, 200 if file.name == "odd-40k.proof" else 60)
for name, file in names.items():
    for offset in [random.randrange(100_000) for _ in range(30)] + [0, 31, 32, -1, -8, -1000]:
        craft("payload", file, proofs / f"{file.stem}-payload{offset}.h5", offset)
    for kind in ("token", "unknown", "controls", "hidden"):
        craft(kind, file, proofs / f"{file.stem}-{kind}.h5")
    for length in (1, 3, 16, 128):
        craft("passes", file, proofs / f"{file.stem}-passes{length}.h5", length)
for what in ("root", "length", "beginning", "keeps"):
    craft("start", names["odd-40k.proof.part2"], proofs / f"start-{what}.h5", what)
craft("huge", proofs / "huge.h5", "tessera proof")
craft("external", proofs / "external.h5", "tessera proof", "secret.txt")
craft("link", proofs / "link.h5", "tessera proof", "other.h5")
craft("crash", proofs / "crash.h5", "tessera proof")
(proofs / "empty.h5").write_bytes(b"")
(proofs / "text.h5").write_bytes(b"a text\n" * 100)
shutil.copyfile(keys / "odd-40k.key", proofs / "a-key.h5")
shutil.copyfile(names["odd-40k.proof"], damaged_keys / "a-proof.h5")


renewals = out / "renewals"
renewals.mkdir()


def tessera(*arguments):
    subprocess.run([programs / "tessera", arguments[0], "--quiet", *map(str, arguments[1:])], check=True, stdout=subprocess.DEVNULL)


model = renewals / "model.h5"
tessera("import", "--checkpoint", source / "configs/odd-40k", "--out", model)
for name in ("first", "second", "third"):
    tessera("commit", "--hiding", "--proofs", 5, "--model", model, "--out", renewals / name)
    tessera("prove", "--model", model, "--commitment", renewals / name, "--prompt", "The old", "--generate", 3, "--out", renewals / f"{name}.h5")
for old, new in (("first", "second"), ("second", "third")):
    tessera("renew", "--model", model, "--commitment", renewals / old, "--renewed", renewals / new, "--out", renewals / f"{old}-{new}.h5")
    for dataset in ("payload", "old_key"):
        false = renewals / f"{old}-{new}-false-{dataset}.h5"
        shutil.copyfile(renewals / f"{old}-{new}.h5", false)
        change_last(false, dataset)
whole = (renewals / "first-second.h5").read_bytes()
(renewals / "cut.h5").write_bytes(whole[:3000])

chats = out / "chats"
shutil.copytree(source / "configs/odd-qwen2-50k", chats / "chat")
template = "{# \u202e</script><b> #}\n{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}" + "\n{# a line #}" * 9
(chats / "chat/chat_template.jinja").write_text(template, encoding="utf-8")
tessera("import", "--checkpoint", chats / "chat", "--out", chats / "chat.h5")
tessera("commit", "--model", chats / "chat.h5", "--out", chats / "commitment")
for name, more in (("sampled", ["--seed", f"{7:064x}"]), ("joint", ["--seed", f"{7:064x}", "--seed-opening", f"{5:064x}"])):
    tessera("prove", "--model", chats / "chat.h5", "--commitment", chats / "commitment", "--tokens", "17,42,5,99", "--generate", 4,
            "--temperature", 3, "--top-k", 40, *more, "--out", chats / f"{name}.h5")
for name, ids in (("ids", [17, 42, 5, 99]), ("lists", [[17, 42, 5, 99]]), ("other", [17, 42, 5]), ("two", [[1], [2]]), ("none", {"ids": [1]})):
    (chats / f"{name}.json").write_text(json.dumps(ids))
