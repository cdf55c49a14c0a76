#!/usr/bin/env python3
"""Measures built programs and writes a JSON file (bench.sh calls this), shows such files and compares them."""

import argparse
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the source folder
import bench_kernels  # noqa: E402
import bench_lengths  # noqa: E402
import bench_report  # noqa: E402
import bench_serial  # noqa: E402

PROJECT = pathlib.Path(__file__).resolve().parent.parent
REPEATS = 5  # of short runs: the one of median time counts
VERIFICATIONS = 10


class Failed(Exception):
    """A program failed; the message is its line of error."""


def run(command, **options):
    """Wall seconds and standard output of a process that must succeed."""
    start = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, errors="replace", **options)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("tessera")] or lines[-1:]
        raise Failed(errors[-1] if errors else f"{command[0]}: exit code {done.returncode}")
    return seconds, done.stdout


def progress(text):
    print("== " + text, file=sys.stderr, flush=True)


def machine(instruction_set):
    """What the numbers depend on beside the code."""
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text(errors="replace")
    model = re.search(r"^model name\s*:\s*(.*)$", cpuinfo, re.M)
    memory = re.search(r"^MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text(), re.M)
    return {
        "cpu": model.group(1).strip() if model else os.uname().machine,
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": int(memory.group(1)) * 1024 if memory else 0,
        "instruction_set": instruction_set,
    }


def revision():
    """Commit, and whether files differ from it."""
    def git(*arguments):
        return run(["git", "-C", PROJECT, *arguments])[1].strip()
    try:
        return {"revision": git("rev-parse", "HEAD"), "modified": git("status", "--porcelain") != ""}
    except (Failed, OSError):
        return {"revision": "unknown", "modified": True}


def beginning(instruction_set, threads):
    """What every benchmark file begins with."""
    return {"format": bench_report.FORMAT, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **revision(),
            "machine": machine(instruction_set), "load_before": os.getloadavg()[0], "threads": threads,
            "kernels": [], "runs": []}


def finish(result, out, earlier):
    """Writes and shows a whole file, and what has changed since an earlier one."""
    unfinished = out.with_name(out.name + ".partial")
    unfinished.write_text(json.dumps(result, indent=1) + "\n")
    unfinished.replace(out)
    show(result)
    print(f"\n{out}")
    if earlier:
        print()
        bench_report.compare(earlier, result)


def show(result):
    bench_report.show(result)
    if result.get("instruction_sets"):
        print()
        bench_kernels.show(result["instruction_sets"])


def kernels_of(report):
    """Rows of Google Benchmark's report: the best of all repetitions, since others use the machine, too."""
    rows = {}
    for entry in report["benchmarks"]:
        if entry.get("run_type") != "iteration":
            continue
        name, _, rest = entry["name"].partition("/threads:")
        threads = re.match(r"\d+", rest).group()
        for unit, value in entry.items():
            if not unit.startswith("ns/") and unit != "GB/s":
                continue
            values = rows.setdefault((name, unit), {})
            best = max if unit == "GB/s" else min
            values[threads] = best(value, values.get(threads, value))
    return [{"name": name, "unit": unit, "threads": values} for (name, unit), values in rows.items()]


def collect_kernels(kernels, threads):
    progress("kernels")
    out = kernels.with_suffix(".json")
    run([kernels, "--benchmark_repetitions=5", "--benchmark_min_time=0.2",
         f"--benchmark_out={out}", "--benchmark_out_format=json"],
        env={**os.environ, "TESSERA_BENCH_THREADS": str(threads)})
    return kernels_of(json.loads(out.read_text()))


def costs_of(inspected):
    """What `tessera inspect` says of a proof: bytes, peak memory, and seconds and peak MiB by scope."""
    def number(pattern):
        return float(re.search(pattern, inspected, re.M).group(1))
    scopes = {path: {"seconds": float(seconds), "peak_mib": float(peak)} for seconds, peak, path in
              re.findall(r"^ +(\d+\.\d{4}) +(\d+\.\d)  (/.*)$", inspected, re.M)}
    return {
        "prove_s": scopes["/"]["seconds"],
        "inference_s": scopes["/inference"]["seconds"],
        "peak_mib": number(r"^computed by .* at most (\d+\.\d) MiB a rank$"),
        "proof_bytes": int(number(r"^payload +(\d+) bytes")),
        "scopes": scopes,
    }


class Job:
    """A model's files and the runs on it."""

    def __init__(self, build, name, programs=None):
        self.build, self.name = build, name
        self.folder = build / "run" / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.model, self.commitment = self.folder / "model.h5", self.folder / "commitment"
        self.proof = self.folder / "proof.h5"
        self.tessera = (programs or build) / "tessera"

    def make(self, arguments, keep):
        """The model file; a kept one is taken if this program can still read it. Returns seconds."""
        record = self.folder / "made.json"
        wanted = [str(part) for part in arguments]
        if keep and record.exists():
            made = json.loads(record.read_text())
            try:
                run([self.tessera, "inspect", self.model])
                if made["arguments"] == wanted:
                    return made["seconds"]
            except Failed:
                pass
        progress(f"{self.name}: {arguments[0]}")
        seconds, _ = run([self.tessera, *arguments, "--quiet", "--out", self.model])
        record.write_text(json.dumps({"arguments": wanted, "seconds": seconds}))
        return seconds

    def launch(self, ranks, threads, command, *arguments, **options):
        launcher = ["mpirun", "-n", ranks] if ranks > 1 else []
        return run([*launcher, self.tessera, command, "--quiet", "--threads", threads, "--model", self.model,
                    *arguments], **options)[0]

    def prompt(self, count):
        """Ids by a fixed formula: the cost does not depend on what they mean."""
        vocabulary = int(re.search(r"vocabulary (\d+)", run([self.tessera, "inspect", self.model])[1]).group(1))
        return ",".join(str((7919 * i + 13) % vocabulary) for i in range(count))

    def commit(self, ranks, threads):
        """Seconds of the commitment that prove() takes."""
        progress(f"{self.name}: commit, {ranks} ranks x {threads} threads")
        return self.launch(ranks, threads, "commit", "--out", self.commitment)

    def prove(self, ranks, threads, prompt, generate, **options):
        """The costs of one proof."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = self.launch(ranks, threads, "prove", "--commitment", self.commitment, "--tokens", self.prompt(prompt),
                              "--generate", generate, "--out", self.proof, **options)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {"process_s": seconds, "processor_s": processor, **costs_of(run([self.tessera, "inspect", self.proof])[1])}

    def measure(self, ranks, threads, lengths, repeats):
        """One row for each (prompt, generated) length."""
        where = {"model": self.name, "ranks": ranks, "threads": threads}
        commit = self.commit(ranks, threads)
        rows = []
        for prompt, generate in lengths:
            progress(f"{self.name}: {prompt} + {generate} tokens, {ranks} ranks x {threads} threads")
            row = {**where, "prompt": prompt, "generate": generate, "commit_s": commit, "repeats": repeats}
            rows.append(row)
            try:
                runs = [self.prove(ranks, threads, prompt, generate) for _ in range(repeats)]
                row.update(sorted(runs, key=lambda cost: cost["prove_s"])[len(runs) // 2])
                verify = [self.build / "tessera-verify", "--key", self.commitment / "verifying.key", self.proof]
                row["verify_ms"] = 1000 * statistics.median(run(verify)[0] for _ in range(VERIFICATIONS))
            except Failed as error:
                row["error"] = str(error)
                print(f"bench: {self.name} {prompt}+{generate}: {error}", file=sys.stderr)
        return rows


def serial(options):
    """What one thread does alone in one proof of GPT-2's shape."""
    build = options.build.resolve()
    prompt, generate = map(int, options.length.split("+"))
    job = Job(build, "gpt2-shape")
    job.make(["synthesize", "--shape", PROJECT / "configs/gpt2.json", "--seed", 1], keep=True)
    job.commit(1, 2)

    def prove(threads, environment):
        progress(f"{job.name}: {options.length} tokens, {threads} threads, {environment['TESSERA_CLOCK']} processor time")
        return job.prove(1, threads, prompt, generate, env=environment)
    scopes = bench_serial.measure(prove, build / "tests/bench/processor_clock.so", options.repeats)
    bench_serial.show(f"{job.name} {options.length}", scopes)
    return 0


def lengths(options):
    """Time and memory of a small model's proofs at many lengths, of this build and perhaps another, in turn: of some
    passes over all lengths the run of each that took least."""
    build, threads = options.build.resolve(), options.threads
    jobs = {"this build": Job(build, "lengths")}
    if options.against:
        jobs["the other"] = Job(build, "lengths-other", options.against.resolve())
    for job in jobs.values():
        config = job.folder / "config.json"
        config.write_text(bench_lengths.shape((PROJECT / "configs/gutenberg-llama-3m/config.json").read_text()))
        job.make(["synthesize", "--shape", config, "--seed", 1], keep=False)
        job.commit(1, threads)
    rows = {name: {} for name in jobs}  # by length
    for number in range(options.passes):  # a slow minute is of other lengths in each
        for prompt, generate in bench_lengths.lengths():
            progress(f"pass {number + 1} of {options.passes}: {prompt} + {generate} tokens")
            for name, job in jobs.items():
                costs = job.prove(1, threads, prompt, generate)
                del costs["scopes"]
                row = {"prompt": prompt, "generate": generate, **costs}
                rows[name][prompt] = min(row, rows[name].get(prompt, row), key=lambda costs: costs["processor_s"])
    series = {name: list(of_lengths.values()) for name, of_lengths in rows.items()}
    options.out.write_text(json.dumps({"threads": threads, **revision(), "series": series}, indent=1) + "\n")
    if options.figure:
        bench_lengths.draw(series, options.figure)
    return 0


def kernel_table(options):
    """Kernels beside what this processor allows, by one thread with each of its instruction sets."""
    program = options.build.resolve() / "tests/bench/bench_sets"
    earlier = bench_report.load(options.compare) if options.compare else None  # the new file may take its place
    result = beginning(run([program, "--instruction-sets"])[1].split()[-1], 1)
    result["instruction_sets"] = bench_kernels.collect(program, run, progress, options)
    result["load_after"] = os.getloadavg()[0]
    finish(result, options.out, earlier)
    return 0


def show_page(options):
    """A kernels' table as part of a page: printed, or put where the page has its name."""
    text = bench_kernels.page(bench_report.load(options.file))
    if options.into:
        bench_kernels.put_into(options.into, options.file.stem, text)
    else:
        print(text, end="")


def collect(options):
    build, threads = options.build.resolve(), options.threads
    kernels = build / "tests/bench/bench_kernels"
    earlier = bench_report.load(options.compare) if options.compare else None  # the new file may take its place
    result = beginning(run([kernels, "--instruction-set"])[1].strip(), threads)
    if options.only != "runs":
        result["kernels"] = collect_kernels(kernels, threads)
    if options.only != "kernels":
        job = Job(build, "gutenberg-2m")
        made = job.make(["import", "--checkpoint", PROJECT / "configs/gutenberg-2m"], keep=False)
        rows = []
        for layout in dict.fromkeys([(1, threads), (threads, 1)]):
            rows += job.measure(*layout, [(32, 32)], REPEATS)
        result["runs"] += [{**row, "import_s": made} for row in rows]
    if options.gpt2:
        job = Job(build, "gpt2-shape")
        made = job.make(["synthesize", "--shape", PROJECT / "configs/gpt2.json", "--seed", 1], keep=True)
        lengths = [tuple(map(int, length.split("+"))) for length in options.gpt2.split(",")]
        result["runs"] += [{**row, "import_s": made} for row in job.measure(1, threads, lengths, 1)]
    finish(result, options.out, earlier)
    return 3 if any("error" in row for row in result["runs"]) else 0


def main():
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("collect")
    command.add_argument("--build", type=pathlib.Path, required=True)
    command.add_argument("--out", type=pathlib.Path, required=True)
    command.add_argument("--threads", type=int, default=2)
    command.add_argument("--only", choices=("kernels", "runs"))
    command.add_argument("--gpt2", metavar="P+G,...")
    command.add_argument("--compare", metavar="EARLIER")
    command = commands.add_parser("kernels")
    command.add_argument("--build", type=pathlib.Path, required=True)
    command.add_argument("--out", type=pathlib.Path, required=True)
    command.add_argument("--compare", metavar="EARLIER")
    command.add_argument("--repetitions", type=int, default=12)
    command.add_argument("--min-time", type=float, default=0.01, metavar="SECONDS")
    command.add_argument("--cache-only", action="store_true", help="nothing in memory")
    command = commands.add_parser("serial")
    command.add_argument("--build", type=pathlib.Path, required=True)
    command.add_argument("--length", default="448+64", metavar="P+G")
    command.add_argument("--repeats", type=int, default=2)
    command = commands.add_parser("lengths")
    command.add_argument("--build", type=pathlib.Path, required=True)
    command.add_argument("--out", type=pathlib.Path, required=True)
    command.add_argument("--threads", type=int, default=2)
    command.add_argument("--against", type=pathlib.Path, metavar="FOLDER")
    command.add_argument("--passes", type=int, default=3)
    command.add_argument("--figure", type=pathlib.Path, metavar="SVG")
    commands.add_parser("show").add_argument("file")
    command = commands.add_parser("page")
    command.add_argument("file", type=pathlib.Path)
    command.add_argument("into", type=pathlib.Path, nargs="?", metavar="PAGE")
    command = commands.add_parser("compare")
    command.add_argument("old")
    command.add_argument("new")
    options = parser.parse_args()
    try:
        measuring = {"collect": collect, "kernels": kernel_table, "serial": serial, "lengths": lengths}
        if options.command in measuring:
            return measuring[options.command](options)
        if options.command == "show":
            show(bench_report.load(options.file))
        elif options.command == "page":
            show_page(options)
        else:
            bench_report.compare(bench_report.load(options.old), bench_report.load(options.new))
        return 0
    except bench_report.Unusable as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except (Failed, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
