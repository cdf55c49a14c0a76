"""Kernels beside what a processor allows them, for each of its instruction sets (bench.py calls this)."""

import json
import os
import textwrap

import bench_report

PEAK = "peak/"
OPERATION = "of "  # counters of a benchmark that say what an item of it is made of
INSTRUCTIONS = ("multiplication", "shift", "instruction")  # that go on at once: the slowest counts
FINDING = 0.5  # of what is allowed
NOTES = """ns: an item's time by one thread, the least of all repetitions; allowed: what its steps take one after the
other in registers, or its bytes to and from the cache or the memory, whichever is longer; of a step (peak/), what its
instructions take; ratio: allowed / ns."""


def least(report):
    """Benchmarks by name, with the least of all times, since others use the machine, too. Of a peak it is the least of
    all ways to get there, which what follows its name tells from each other."""
    rows = {}
    for entry in report["benchmarks"]:
        if entry.get("run_type") != "iteration":
            continue
        name = entry["name"]
        if name.startswith(PEAK):
            name = "/".join(name.split("/")[:2])
        unit = next(key for key in entry if key == "ns" or key.startswith("ns/"))
        operations = {key.removeprefix(OPERATION): value for key, value in entry.items() if key.startswith(OPERATION)}
        row = rows.setdefault(name, {"name": name, "unit": unit, "ns": entry[unit], "operations": operations})
        row["ns"] = min(row["ns"], entry[unit])
    return rows


def allow(operations, peaks):
    """The least nanoseconds that operations take, and by what: steps, instructions or memory. None of none."""
    def of(wanted):
        return {name: count * peaks[name] for name, count in operations.items() if wanted(name) and count > 0}
    instructions = of(lambda name: name in INSTRUCTIONS)
    memory = of(lambda name: name.startswith("bytes "))
    steps = of(lambda name: name not in instructions and name not in memory)
    bounds = [(max(instructions.values(), default=0), max(instructions, key=instructions.get, default=None)),
              (sum(steps.values()), max(steps, key=steps.get, default=None)), (sum(memory.values()), "memory")]
    return max(bounds, key=lambda bound: bound[0])


def table_of(report):
    """Rows of one instruction set by name, which were measured in random order: kernels, then steps."""
    rows = least(report)
    peaks = {name.removeprefix(PEAK): row["ns"] for name, row in rows.items() if name.startswith(PEAK)}
    for row in rows.values():
        if row["operations"]:
            row["allowed_ns"], row["bound"] = allow(row["operations"], peaks)
    return [rows[name] for name in sorted(rows, key=lambda name: (name.startswith(PEAK), name.lower()))]


def collect(program, run, progress, options):
    """[{set, kernels}] of all sets that this processor has. run(command, **options) gives (seconds, output)."""
    sets = []
    memory = ["--benchmark_filter=-in memory"] if options.cache_only else []
    for name in run([program, "--instruction-sets"])[1].split():
        progress(f"kernels with {name}")
        out = program.with_name(f"{program.name}-{name}.json")
        # in turn, so that a disturbance meets all of them a little
        run([program, *memory, f"--benchmark_repetitions={options.repetitions}",
             f"--benchmark_min_time={options.min_time}", "--benchmark_enable_random_interleaving=true",
             f"--benchmark_out={out}", "--benchmark_out_format=json"],
            env={**os.environ, "TESSERA_INSTRUCTIONS": name})
        sets.append({"set": name, "kernels": table_of(json.loads(out.read_text()))})
    return sets


def ratio_of(row):
    return row["allowed_ns"] / row["ns"]


def number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def lines_of(sets):
    """A header and a line for each kernel and step that something is allowed for."""
    names = [one["set"] for one in sets]
    lines = [["kernel", "unit", *(f"{name}: {what}" for name in names for what in ("ns", "allowed", "ratio"))]]
    tables = [{row["name"]: row for row in one["kernels"]} for one in sets]
    for name in dict.fromkeys(name for table in tables for name in table):
        found = [table.get(name) for table in tables]
        cells = []
        for row in found:
            if row is None or "allowed_ns" not in row:
                cells += ["-" if row is None else number(row["ns"]), "-", "-"]
            else:
                cells += [number(row["ns"]), number(row["allowed_ns"]), f"{ratio_of(row):.2f}"]
        lines.append([name, next(row["unit"] for row in found if row is not None), *cells])
    return lines


def findings(sets):
    """A line for each row that takes more than twice of what is allowed, the furthest first."""
    return [f"{one['set']}: {row['name']}: {number(row['ns'])} {row['unit']}, allowed {number(row['allowed_ns'])} "
            f"(by {row['bound']}), ratio {ratio_of(row):.2f}"
            for one in sets
            for row in sorted((row for row in one["kernels"] if "allowed_ns" in row), key=ratio_of)
            if ratio_of(row) < FINDING]


def show(sets):
    bench_report.print_table(lines_of(sets))
    print("\n" + NOTES)
    found = findings(sets)
    print(f"\nbelow {FINDING} of what is allowed: {len(found) or 'none'}")
    for line in found:
        print(line)


def page(result):
    """The table and the findings in Markdown."""
    header, *lines = lines_of(result["instruction_sets"])
    found = findings(result["instruction_sets"])
    return "\n".join([
        *textwrap.wrap(bench_report.head(result) + ".", 120), "",
        f"| {' | '.join(header)} |", "|" + 2 * "---|" + (len(header) - 2) * "---:|",
        *(f"| {' | '.join(line)} |" for line in lines), "",
        f"Below {FINDING} of what is allowed: {len(found) or 'none'}.", "",
        *(wrapped for line in found for wrapped in textwrap.wrap(f"- {line}", 120, subsequent_indent="  "))]).rstrip() + "\n"


def put_into(path, name, text):
    """Text in the place of what a page has between <!-- name --> and <!-- end -->."""
    before, mark, rest = path.read_text().partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition("<!-- end -->\n")
    if not mark or not end:
        raise bench_report.Unusable(f"{path}: expected <!-- {name} --> and <!-- end -->, found none")
    path.write_text(before + mark + text + end + after)
