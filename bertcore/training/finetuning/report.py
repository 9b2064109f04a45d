"""The report of a fine-tuning: report.json for programs, report.md for people."""

import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bertcore.base.json_data import plain_data
from bertcore.base.whole_files import write_whole
from bertcore.model.checkpoints.card import licence_of, write_card
from bertcore.training.finetuning.run import rank

JSON_FILE = "report.json"
MARKDOWN_FILE = "report.md"
_CURVE_ROWS = 24
_CONFUSION_LABELS = 20
_SLICED_LABELS = 40


def write_report(folder: Path, report: dict[str, Any]) -> None:
    """Write both files and the model card, each atomically."""
    text = json.dumps(plain_data(report), indent=2, allow_nan=False)
    write_whole(folder / JSON_FILE, text + "\n")
    write_whole(folder / MARKDOWN_FILE, to_markdown(report))
    best = report["best"]
    write_card(
        folder,
        base=report["checkpoint"],
        licence=licence_of(report["checkpoint"]),
        about=f"A model fine-tuned for the task {report['task']} with BertScope; report.md has all "
        "scores and settings.",
        facts={
            "Trained on": f"{Path(report['train']).name} ({report['num_train']:,} examples)",
            "Scored on": f"{Path(report['dev']).name} ({report['num_dev']:,} examples)",
            "Labels": ", ".join(report["labels"]) or "none",
        },
        scores=[(name, f"{value:.4f}") for name, value in best["scores"]["metrics"].items()],
        architecture=report["architecture"],
        opened_by="open_task",
    )


def medians(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each learning rate the median, minimum and maximum of the metric over its seeds.

    Runs that diverged count as the worst; if they are the median, it is NaN.
    """
    rows = []
    for rate in dict.fromkeys(run["learning_rate"] for run in runs):
        values = [rank(run["value"]) for run in runs if run["learning_rate"] == rate]
        ends = {"median": statistics.median(values), "least": min(values), "most": max(values)}
        ends = {name: x if math.isfinite(x) else math.nan for name, x in ends.items()}
        rows.append({"learning_rate": rate, "seeds": len(values), **ends})
    return rows


def to_markdown(report: dict[str, Any]) -> str:
    best, metric, scores = report["best"], report["metric"], report["best"]["scores"]
    kinds = "Entities" if report["task"] == "tag" else "Labels"
    parts = [
        f"# Fine-tuning: {report['task']}",
        f"`{report['command']}`",
        _table(("", ""), _summary(report)),
        "## Scores on the dev data",
        _table(
            ("metric", "value", "95% interval"),
            [
                (name, value, interval(scores["intervals"].get(name)))
                for name, value in scores["metrics"].items()
            ],
        ),
        "The step and the run were chosen on these data, so expect slightly lower scores on new "
        "data. Intervals are bootstrap intervals over the examples; those of shares of right "
        "answers are Wilson's.",
        *scores["notes"],
        *_all_runs(report),
    ]
    if scores["by_type"]:
        columns = ("precision", "recall", "f1", "number")
        types = [(n, *map(values.get, columns)) for n, values in scores["by_type"].items()]
        parts += [f"## {kinds}", _table(("type", *columns), types)]
    labels = scores["confusion_labels"]
    if 0 < len(labels) <= _CONFUSION_LABELS:
        counts = [(label, *row) for label, row in zip(labels, scores["confusion"], strict=True)]
        parts += [
            "## Confusion matrix",
            "Right labels by row, predicted ones by column.",
            _table(("", *labels), counts),
        ]
    if scores.get("breakdown"):  # regression and questions have none
        parts += _breakdown(scores["breakdown"])
    curve = ("step", "epoch", "loss", "dev_loss", f"dev_{metric}")
    parts += ["## Curves", _table(curve, [tuple(map(x.get, curve)) for x in _curve(report)])]
    if best.get("kept_epochs"):
        scored = {line["epoch"]: line for line in report["history"] if "dev_loss" in line}
        epochs = [
            (kept["epoch"], *map(scored[float(kept["epoch"])].get, curve[-2:]), kept["folder"])
            for kept in best["kept_epochs"]
        ]
        parts += ["## Kept checkpoints", _table(("epoch", *curve[-2:], "folder"), epochs)]
    if report["notes"]:
        parts += ["## Notes", "\n".join(f"- {note}" for note in report["notes"])]
    return "\n\n".join(parts) + "\n"


def _summary(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Return model, data, settings and speed."""
    best, settings = report["best"], report.get("settings", {})
    start = ", its shape with random weights" if settings.get("is_untrained") else ""
    swap = settings.get("swap")
    against_bias = {
        "Words swapped in training": swap and f"{swap['name']}: {len(swap['pairs'])} pairs",
        "Balanced by": settings.get("balance"),
        "Weighed by the bias of": settings.get("bias_model"),
    }
    return [
        ("Checkpoint", report["checkpoint"] + start),
        ("Class in transformers", report["architecture"]),
        ("Labels", ", ".join(report["labels"]) or "none"),
        ("Training data", f"{report['train']} ({report['num_train']:,} examples)"),
        ("Dev data", f"{report['dev']} ({report['num_dev']:,} examples)"),
        ("Learning rate, seed", f"{best['learning_rate']:g}, {best['seed']}"),
        ("Epochs, batch size", f"{best['epochs']}, {best['batch_size']}"),
        *((name, value) for name, value in against_bias.items() if value),
        ("Steps", f"{best['num_steps']:,}; the best on the dev data was {best['best_step']:,}"),
        (
            "Speed",
            f"{best['examples_per_second']:,.0f} examples/s, {best['seconds']:,.0f} s; "
            f"{best['share_padding']:.1%} of the tokens were padding",
        ),
        *report["versions"].items(),
    ]


def _all_runs(report: dict[str, Any]) -> list[str]:
    """Return the medians of several runs, and how many are still to be done."""
    parts, runs = [], report["runs"]
    if len(runs) > 1:
        parts += [
            f"## All runs: {report['metric']}",
            _table(
                ("learning rate", "seeds", "median", "least", "most"),
                [
                    (
                        f"{row['learning_rate']:g}",
                        row["seeds"],
                        *(number(row[name]) for name in ("median", "least", "most")),
                    )
                    for row in report["medians"]
                ],
            ),
            "The checkpoint in this folder is that of the single best run.",
        ]
    diverged = [
        f"- Learning rate {run['learning_rate']:g}, seed {run['seed']}: {run['diverged']}"
        for run in runs
        if "diverged" in run
    ]
    if diverged:
        parts += ["Runs that diverged count as the worst:", "\n".join(diverged)]
    if len(runs) < report["num_planned"]:
        parts.append(f"**Not finished:** {len(runs)} of {report['num_planned']} runs are done.")
    return parts


def _breakdown(breakdown: dict[str, Any]) -> list[str]:
    """Return calibration, and accuracy by length and label; only the worst of many labels."""
    labels = breakdown["by_label"]
    heading = "## Accuracy by right label"
    if len(labels) > _SLICED_LABELS:
        heading += f": the worst {_SLICED_LABELS} of {len(labels):,}"
        labels = sorted(labels, key=lambda label: float(label["mean"]))[:_SLICED_LABELS]
    bins = [
        (
            f"{each['above']:.1f} to {each['up_to']:.1f}",
            *(each[name] for name in ("number", "confidence", "accuracy")),
            interval((each["low"], each["high"])),
        )
        for each in breakdown["calibration"]
    ]
    by_length, by_label = (
        [(s["name"], s["number"], s["mean"], interval((s["low"], s["high"]))) for s in slices]
        for slices in (breakdown["by_length"], labels)
    )
    columns = ("answers", "right", "95% interval")
    return [
        "## Calibration",
        f"Expected calibration error {breakdown['expected_calibration_error']:.4f}, the largest "
        f"of a row {breakdown['largest_calibration_error']:.4f}: how far apart confidence and "
        "accuracy are.",
        _table(("confidence", "answers", "mean confidence", *columns[1:]), bins),
        "## Accuracy by length",
        _table(("tokens", *columns), by_length),
        heading,
        _table(("label", *columns), by_label),
    ]


def _curve(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return loss and dev scores over the run, thinned to some rows; all are in report.json."""
    losses = [line for line in report["history"] if "loss" in line]
    evaluations = [line for line in report["history"] if "dev_loss" in line]
    every = max(1, len(losses) // _CURVE_ROWS)
    lines = [*losses[every - 1 :: every], *evaluations]
    return sorted(lines, key=lambda line: (line["step"], "dev_loss" in line))


def number(value: float) -> str:
    """Return a score of runs as text; "diverged" for those that did."""
    return "diverged" if math.isnan(value) else f"{value:.4f}"


def interval(pair: Sequence[float | None] | None) -> str:
    """Return an interval as text; "" if there is none, as for a single example."""
    low, high = pair or (None, None)
    if low is None or high is None or math.isnan(low):
        return ""
    return f"{low:.4f} to {high:.4f}"


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    rules = [":--", *["--:"] * (len(columns) - 1)] if len(columns) > 2 else [":--", ":--"]
    lines = [columns, rules, *(map(_cell, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.4f}" if isinstance(value, float) else value
    text = f"{text:,}" if isinstance(text, int) else text
    return str(text).replace("|", "\\|").replace("\n", " ")
