"""What one thread does alone, scope by scope, and what that leaves of many threads (bench.py calls this)."""

import os

import bench_report

PREDICTED = (16, 64, 128)  # threads
NOTES = """T1, T2: processor seconds of the main thread with 1 and 2 threads, the least of all runs; 2 T2 - T1: what that
makes the serial part, if both threads have the same share of each loop; alone: seconds outside of parallel regions,
counted where they begin and end. Shares are of the T1 of all. Speeds are T1 / (alone + (T1 - alone) / threads)."""


def environment(clock, mode):
    """Of a program whose own times are processor times: they do not depend on what else the machine does."""
    return {**os.environ, "LD_PRELOAD": str(clock), "TESSERA_CLOCK": mode, "OMP_WAIT_POLICY": "passive",
            "GOMP_SPINCOUNT": "0"}


def least(runs):
    """By scope the least seconds of several runs."""
    return {scope: min(run["scopes"][scope]["seconds"] for run in runs) for scope in runs[0]["scopes"]}


def measure(prove, clock, repeats):
    """prove(threads, environment) gives the costs of one run."""
    def runs(threads, mode):
        return least([prove(threads, environment(clock, mode)) for _ in range(repeats)])
    one, two, alone = runs(1, "all"), runs(2, "all"), runs(1, "outside")
    return {scope: {"one": one[scope], "two": two[scope], "alone": alone[scope]} for scope in one}


def speed(one, alone, threads):
    return one / (alone + (one - alone) / threads)


def show(name, scopes):
    """Top scopes, the largest serial part first; then all."""
    total = scopes["/"]["one"]
    top = [path for path in scopes if path.count("/") == 1 and path != "/"]
    lines = [[name, "T1 [s]", "T2 [s]", "2 T2 - T1", "share", "alone [s]", "share",
              *(f"{threads} threads" for threads in PREDICTED)]]
    for path in [*sorted(top, key=lambda path: -scopes[path]["alone"]), "/"]:
        one, two, alone = (scopes[path][key] for key in ("one", "two", "alone"))
        lines.append([path, f"{one:.3f}", f"{two:.3f}", f"{2 * two - one:.3f}", f"{100 * (2 * two - one) / total:.2f} %",
                      f"{alone:.3f}", f"{100 * alone / total:.2f} %",
                      *(f"{speed(one, min(alone, one), threads):.1f} x" if one > 0 else "-" for threads in PREDICTED)])
    bench_report.print_table(lines)
    print("\n" + NOTES)
