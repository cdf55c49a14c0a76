"""What kernels and first touches of pages allow in each scope, beside what a proof attained (bench.py calls this)."""

import bench_report

NOTES = """attained: the median run; kernels: the work that the plan counts in the scope (last lines) at the rates of the kernels
below on as many threads, with all operations and bytes that they take; pages: by how much the peak of memory grew, and the
seconds that touching so much for the first time takes; allowed: both. Rounds, messages and what is done once are not in it.
Weights read for one token are bytes from memory, values recorded, looked up and computed again bytes copied, rows of
tables pair look-ups, values opened and under claims sums over a matrix's inputs."""

READ, COPY, TOUCH = ("memory/read", "GB/s"), ("memory/copy", "GB/s"), ("memory/first touch", "GB/s")
SUMS = ("parameters/sum over inputs", "ns/weight")
PAIRS = ("look-up/pair column", "ns/look-up")
# of what the plan counts: kernel, and how many of its units (bytes of a memory's) one is
KERNELS = {
    "weights, token by token": (READ, 2),
    "products, tokens together": (("inference/products", "ns/product"), 1),
    "recorded values": (COPY, 8),
    "witness values": (COPY, 8),
    "codeword elements": (("commitment/oracle of 2^22 cells", "ns/codeword element"), 1),
    "range look-ups": (("look-up/range column", "ns/look-up"), 1),
    "pair look-ups": (PAIRS, 1),
    "table rows": (PAIRS, 1),
    "weights under claims": (SUMS, 1),
    "values under claims": (SUMS, 1),
    "values opened": (SUMS, 1),
    "sum-check elements": (("sum-check/eq*f*g over chunks", "ns/element"), 1),
    "vector elements": (("sum-check/a*b of the opening", "ns/element"), 1),
    "elements recomputed": (COPY, 8),
}


def names():
    """Of the kernels that a budget is made of."""
    return {kernel[0] for kernel, _ in KERNELS.values()} | {TOUCH[0]}


def seconds_of(kernels, threads, kernel, amount):
    """Of `amount` units, or bytes, at a kernel's rate."""
    rates = next((row["threads"] for row in kernels if (row["name"], row["unit"]) == kernel), {})
    rate = rates.get(str(threads))
    if rate is None:
        raise bench_report.Unusable(f"kernels: expected {kernel[0]} on {threads} threads, found none")
    return amount / (rate * 1e9) if kernel[1] == "GB/s" else amount * rate * 1e-9


def scopes_of(phases, run, kernels, threads, loaded_mib):
    """By scope, in the order of the proof: phases of the plan, costs of a run; the last one is all."""
    result, peak = [], loaded_mib
    for phase in phases:
        measured = run["scopes"].get(phase["scope"])
        if measured is None:
            continue
        known = {name: KERNELS[name] for name in phase["work"] if name in KERNELS}
        work = sum(seconds_of(kernels, threads, kernel, phase["work"][name] * count)
                   for name, (kernel, count) in known.items())
        pages = max(0.0, measured["peak_mib"] - peak)
        peak = max(peak, measured["peak_mib"])
        result.append({"scope": phase["scope"], "attained": measured["seconds"], "kernels": work, "pages_mib": pages,
                       "pages": seconds_of(kernels, threads, TOUCH, pages * 2**20),
                       "work": {name: amount for name, amount in phase["work"].items() if amount >= 1e5}})
    total = {key: sum(row[key] for row in result) for key in ("kernels", "pages_mib", "pages")}
    return [*result, {"scope": "/", "attained": run["scopes"]["/"]["seconds"], "work": {}, **total}]


def show(name, scopes):
    """The largest gap first; then all."""
    def allowed(row):
        return row["kernels"] + row["pages"]
    ordered = [*sorted(scopes[:-1], key=lambda row: allowed(row) - row["attained"]), scopes[-1]]
    lines = [[name, "attained [s]", "kernels [s]", "pages [MiB]", "[s]", "allowed [s]", "attained / allowed"]]
    for row in ordered:
        ratio = f"{row['attained'] / allowed(row):.2f}" if allowed(row) > 0 else "-"
        lines.append([row["scope"], f"{row['attained']:.3f}", f"{row['kernels']:.3f}", f"{row['pages_mib']:.0f}",
                      f"{row['pages']:.3f}", f"{allowed(row):.3f}", ratio])
    bench_report.print_table(lines)
    for row in ordered:
        if row["work"]:
            print(f"{row['scope']}: " + ", ".join(f"{amount / 1e6:.1f} M {name}" for name, amount in row["work"].items()))
