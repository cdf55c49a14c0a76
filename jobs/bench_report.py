"""What bench.py prints: one benchmark file as tables, or two side by side."""

import json

FORMAT = "tessera benchmark 1"
METRICS = [("import_s", "import", "s"), ("commit_s", "commit", "s"), ("prove_s", "prove", "s"),
           ("process_s", "prove, process", "s"), ("peak_mib", "peak memory", "MiB"), ("proof_bytes", "proof", "bytes"),
           ("verify_ms", "verify", "ms")]
NOTES = """import: the process (GPT-2's shape: synthesize, maybe of an earlier call); commit: the process
prove: from the prompt to the checked payload, line / of inspect; "prove, process": with start, loading and writing
verify: a whole process, median of 10; peak memory: largest rank; scopes: seconds and peak MiB of the largest rank"""


class Unusable(Exception):
    """A file that is none of ours."""


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        found = result.get("format") if isinstance(result, dict) else None
        if found != FORMAT:
            raise Unusable(f"{path}: format: expected {FORMAT}, found {found}")
        rows(result)
        head(result)
        return result
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise Unusable(f"{path}: expected a benchmark file, found {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise Unusable(f"{path}: expected a whole benchmark file, found no {error}") from error


def text_of(value):
    if value is None:
        return "-"
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.4g}"


def head(result):
    """One line on code and machine."""
    machine = result["machine"]
    return (f"{result['date']}, revision {result['revision'][:12]}{' modified' if result['modified'] else ''}, "
            f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_bytes'] / 2**30:.1f} GiB, "
            f"{machine['instruction_set']}, load {result['load_before']:.1f} before")


def count_of(threads):
    return f"{threads} thread" + ("" if int(threads) == 1 else "s")


def name_of(run):
    return f"{run['model']} {run['prompt']}+{run['generate']}, {run['ranks']} x {run['threads']}"


def top_scopes(run):
    """In the order of the proof file; inner scopes are part of these."""
    return [path for path in run.get("scopes", {}) if path.count("/") == 1 and path != "/"]


def rows(result):
    """All numbers worth comparing: {(what, unit): value}."""
    numbers = {}
    for kernel in result["kernels"]:
        for threads, value in kernel["threads"].items():
            numbers[f"{kernel['name']}, {count_of(threads)}", kernel["unit"]] = value
    for one in result.get("instruction_sets", []):
        for kernel in one["kernels"]:
            numbers[f"{kernel['name']}, {one['set']}", kernel["unit"]] = kernel["ns"]
    for run in result["runs"]:
        for key, label, unit in METRICS:
            if key in run:
                numbers[f"{name_of(run)}: {label}", unit] = run[key]
        for path in top_scopes(run):
            numbers[f"{name_of(run)}: {path}", "s"] = run["scopes"][path]["seconds"]
            numbers[f"{name_of(run)}: {path}", "MiB"] = run["scopes"][path]["peak_mib"]
    return numbers


def print_table(lines):
    """First column to the left, the others to the right."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        cells = [line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))]
        print("  ".join(cells).rstrip())


def show_kernels(kernels):
    counts = sorted({int(threads) for kernel in kernels for threads in kernel["threads"]})
    lines = [["kernel", "unit", *map(count_of, counts), "speed-up"]]
    for kernel in kernels:
        values = [kernel["threads"].get(str(count)) for count in counts]
        speedup = None
        if len(values) > 1 and values[0] and values[-1]:
            speedup = values[-1] / values[0] if kernel["unit"] == "GB/s" else values[0] / values[-1]
        lines.append([kernel["name"], kernel["unit"], *map(text_of, values), text_of(speedup)])
    print_table(lines)


def show_runs(runs):
    """A column for each run."""
    lines = [["model", *(run["model"] for run in runs)],
             ["tokens", *(f"{run['prompt']}+{run['generate']}" for run in runs)],
             ["ranks x threads", *(f"{run['ranks']} x {run['threads']}" for run in runs)]]
    for key, label, unit in METRICS:
        lines.append([f"{label} [{unit}]", *(text_of(run.get(key)) for run in runs)])
    for path in dict.fromkeys(path for run in runs for path in top_scopes(run)):
        costs = [run.get("scopes", {}).get(path) for run in runs]
        lines.append([path, *(f"{text_of(cost['seconds'])} s {cost['peak_mib']:5.0f} MiB" if cost else "-"
                              for cost in costs)])
    print_table(lines)
    print("\n" + NOTES)
    for run in runs:
        if "error" in run:
            print(f"{name_of(run)}: FAILED: {run['error']}")


def show(result):
    print(head(result))
    if result["kernels"]:
        print()
        show_kernels(result["kernels"])
    if result["runs"]:
        print()
        show_runs(result["runs"])


def compare(old, new):
    print(f"old: {head(old)}\nnew: {head(new)}")
    if old["machine"] != new["machine"]:
        print("The machines differ.")
    print()
    before, after = rows(old), rows(new)
    lines = [["what", "unit", "old", "new", "new/old"]]
    for what, a in before.items():
        if what in after:
            lines.append([*what, text_of(a), text_of(after[what]), f"{after[what] / a:.3f}" if a else "-"])
    print_table(lines)
    print(f"\nonly in old: {len(before.keys() - after.keys())}, only in new: {len(after.keys() - before.keys())}")
