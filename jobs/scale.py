#!/usr/bin/env python3
"""Figures and a table from what tessera plan --json said for several numbers of ranks (scale.sh calls this)."""

import json
import pathlib
import re
import sys

MODELS = (("gpt2", "GPT-2 small, 448 + 64"), ("llama-7b", "Llama 2 7B, 960 + 64"))
AIMS = ((16, 0.8), (64, 0.6))


def load(folder, name):
    """{ranks: what a file says}, ascending."""
    found = {}
    for path in folder.glob(f"{name}-*.json"):
        if match := re.fullmatch(rf"{name}-(\d+)\.json", path.name):
            found[int(match.group(1))] = json.loads(path.read_text())
    return dict(sorted(found.items()))


def efficiency(plans, ranks):
    return plans[1]["seconds"] / (ranks * plans[ranks]["seconds"])


def communication(plan):
    return sum(phase["communication"] for phase in plan["phases"])


def seconds_text(seconds):
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.3g} s"


COLUMNS = ("kind", "model, tokens", "ranks", "time", "speed", "efficiency", "communication", "memory a rank", "scopes",
           "machine")


def table(title, plans):
    """Rows of predictions, as src/guide/scaling.md has them."""
    lines = []
    for ranks, plan in plans.items():
        phases = sorted(plan["phases"], key=lambda phase: -phase["seconds"])[:3]
        longest = ", ".join(f"{phase['scope'][1:]} {seconds_text(phase['seconds'])}" for phase in phases)
        lines.append(f"| predicted | {title} | {ranks} | {seconds_text(plan['seconds'])} "
                     f"| {plans[1]['seconds'] / plan['seconds']:.1f} x | {100 * efficiency(plans, ranks):.0f} % "
                     f"| {100 * communication(plan) / plan['seconds']:.1f} % | {plan['memory'] / 2**20:,.0f} MiB "
                     f"| {longest} | {plan['rates']['machine']} |")
    return lines


def compared(title, plans, simulations):
    """Rows of simulations: in place of the longest scopes those that are furthest from what is predicted."""
    lines = []
    for ranks, simulation in simulations.items():
        plan, predicted = plans[ranks], {phase["scope"]: phase["seconds"] for phase in plans[ranks]["phases"]}
        scopes = sorted(simulation["scopes"], key=lambda s: -abs(s["seconds"] - predicted[s["scope"]]))[:3]
        apart = ", ".join(f"{s['scope'][1:]} {s['seconds']:.3f}, {predicted[s['scope']]:.3f} s" for s in scopes)
        network = sum(scope["network"] for scope in simulation["scopes"])
        speed, share = "", ""
        if 1 in simulations:
            speed = f"{simulations[1]['seconds'] / simulation['seconds']:.1f} x"
            share = f"{100 * simulations[1]['seconds'] / (ranks * simulation['seconds']):.0f} %"
        lines.append(f"| simulated | {title} | {ranks} | {simulation['seconds']:.3f} s | {speed} | {share} "
                     f"| {100 * network / simulation['seconds']:.1f} % | | predicted {plan['seconds']:.3f} s; {apart} "
                     "| this |")
    return lines


def draw(models, path):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "tessera", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot
    figure, (times, shares, memory) = pyplot.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    for title, plans in models:
        ranks = list(plans)
        line, = times.plot(ranks, [plan["seconds"] for plan in plans.values()], marker="o", label=title)
        times.plot(ranks, [plans[1]["seconds"] / count for count in ranks], linestyle=":", color=line.get_color())
        shares.plot(ranks, [100 * efficiency(plans, count) for count in ranks], marker="o", label=title)
        memory.plot(ranks, [plan["memory"] / 2**30 for plan in plans.values()], marker="o", label=title)
    shares.plot([ranks for ranks, _ in AIMS], [100 * aim for _, aim in AIMS], "k_", markersize=14, label="aims")
    for axes, name in ((times, "seconds (dotted: ideal)"), (shares, "efficiency, %"), (memory, "GiB a rank")):
        axes.set(xscale="log", title=name, xlabel="ranks of one thread, 16 a node")
        axes.set_xticks(list(models[0][1]), [str(count) for count in models[0][1]])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    times.set_yscale("log")
    memory.set_yscale("log")
    shares.set_ylim(0, 105)
    memory.legend(*shares.get_legend_handles_labels())
    figure.savefig(path, metadata={"Date": None})


def main():
    folder = pathlib.Path(sys.argv[1])
    models = [(title, load(folder, name)) for name, title in MODELS]
    for title, plans in models:
        if 1 not in plans or any(plan["seconds"] is None for plan in plans.values()):
            print(f"scale: {folder}: expected plans with times of {title} from 1 rank on", file=sys.stderr)
            return 2
    lines = [f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
    for title, plans in models:
        lines += table(title, plans)
    if simulations := load(folder, "simulation"):
        lines += compared("gutenberg-2m, 112 + 16", load(folder, "simulated"), simulations)
    notes = ((title, plans[max(plans)]["note"]) for title, plans in models)
    lines += ["", *(f"{title}: {note}." for title, note in notes if note), ""]
    text = "\n".join(lines)
    (folder / "scaling.md").write_text(text)
    draw(models, folder / "scaling.svg")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
