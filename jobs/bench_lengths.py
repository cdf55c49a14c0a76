"""A small model at many lengths, and the figure of its times and memory (bench.py calls this)."""

import json

POSITIONS, GENERATED = 2048, 8
FIRST, LAST, STEP = 16, 1100, 7


def shape(config):
    """The configuration of a model that has room for all lengths."""
    return json.dumps({**json.loads(config), "max_position_embeddings": POSITIONS})


def lengths():
    """(prompt, generated) of each proof."""
    return [(tokens - GENERATED, GENERATED) for tokens in range(FIRST, LAST + 1, STEP)]


def draw(series, path):
    """Processor time and memory over tokens, a line for each build."""
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "tessera", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    for axis, field, title in zip(axes, ("processor_s", "peak_mib"), ("processor time, s", "memory, MiB")):
        for (name, rows), style in zip(series.items(), ("-", "--")):
            axis.plot([row["prompt"] + row["generate"] for row in rows], [row[field] for row in rows], style, label=name,
                      linewidth=1.2)
        axis.set(xlabel="tokens", title=title, xlim=(0, None), ylim=(0, None))
        axis.grid(alpha=0.3)
        if len(series) > 1:
            axis.legend()
    figure.savefig(path, metadata={"Date": None})
