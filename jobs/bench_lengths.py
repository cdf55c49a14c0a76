#!/usr/bin/env python3
"""Time and memory of proofs of one small model at many lengths, as a JSON file and a figure (bench.sh --lengths calls
this). With the programs of an earlier build, the same of these, each length in turn."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent
SHAPE = PROJECT / "configs/gutenberg-llama-3m/config.json"
POSITIONS = 2048
GENERATED = 8
FIRST, LAST, STEP = 16, 1100, 7


def run(command):
    """Standard output of a process that must succeed, and the KiB that it had at most."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, errors = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit((errors.strip().splitlines() or [f"{command[0]}: failed"])[-1])
    return out, usage


class Programs:
    """A build's tessera with a model and a commitment of its own."""

    def __init__(self, tessera, folder):
        self.tessera, self.folder = tessera, folder
        folder.mkdir(parents=True, exist_ok=True)
        shape = folder / "config.json"
        shape.write_text(json.dumps({**json.loads(SHAPE.read_text()), "max_position_embeddings": POSITIONS}))
        self.model, self.commitment = folder / "model.h5", folder / "commitment"
        run([tessera, "synthesize", "--shape", shape, "--seed", "1", "--out", self.model, "--quiet"])
        run([tessera, "commit", "--model", self.model, "--out", self.commitment, "--quiet"])

    def prove(self, tokens, threads):
        """Seconds of the clock and of processors, MiB and bytes of a proof of so many tokens."""
        prompt = ",".join(str(1 + 37 * i % 2000) for i in range(tokens - GENERATED))
        proof = self.folder / "proof.h5"
        _, usage = run([self.tessera, "prove", "--model", self.model, "--commitment", self.commitment, "--tokens", prompt,
                        "--generate", GENERATED, "--out", proof, "--threads", threads, "--quiet"])
        said, _ = run([self.tessera, "inspect", proof])
        seconds = re.search(r"^time +([\d.]+) s", said, re.M).group(1)
        size = re.search(r"^payload +(\d+) bytes", said, re.M).group(1)
        return {"tokens": tokens, "seconds": float(seconds), "processor_seconds": usage.ru_utime + usage.ru_stime,
                "mib": usage.ru_maxrss / 1024, "proof_bytes": int(size)}


def draw(series, path):
    """Processor time and memory over tokens, a line for each build."""
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "tessera", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    for axis, field, title in zip(axes, ("processor_seconds", "mib"), ("processor time, s", "memory, MiB")):
        for (name, rows), style in zip(series.items(), ("-", "--")):
            axis.plot([row["tokens"] for row in rows], [row[field] for row in rows], style, label=name, linewidth=1.2)
        axis.set(xlabel="tokens", title=title, xlim=(0, None), ylim=(0, None))
        axis.grid(alpha=0.3)
        if len(series) > 1:
            axis.legend()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--against", type=pathlib.Path, help="folder of another build's tessera")
    arguments = parser.parse_args()
    builds = {"this build": arguments.build / "tessera"}
    if arguments.against:
        builds["the other"] = arguments.against / "tessera"
    programs = {name: Programs(tessera, arguments.build / "lengths" / str(number))
                for number, (name, tessera) in enumerate(builds.items())}
    series = {name: [] for name in programs}
    for tokens in range(FIRST, LAST + 1, STEP):
        print(f"== {tokens} tokens", file=sys.stderr, flush=True)
        for name, program in programs.items():
            series[name].append(program.prove(tokens, arguments.threads))
    arguments.out.write_text(json.dumps({"threads": arguments.threads, "model": str(SHAPE.parent.name),
                                         "generated": GENERATED, "series": series}, indent=1) + "\n")
    draw(series, arguments.out.with_suffix(".svg"))


if __name__ == "__main__":
    main()
