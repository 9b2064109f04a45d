"""The report of a fine-tuning: report.json for programs, report.md for people."""

import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bertcore.base.json_data import plain_data
from bertcore.base.whole_files import write_whole
from bertcore.checkpoints.card import licence_of, write_card
from bertcore.finetuning.run import rank

JSON_FILE = "report.json"
MARKDOWN_FILE = "report.md"
_CURVE_ROWS = 24
_CONFUSION_LABELS = 20
_SLICED_LABELS = 40


def write_report(folder: Path, report: dict[str, Any]) -> None:
    """Write both files and the model card, each atomically.

    Args:
        report: From `Experiment.report`.
    """
    for name, text in (
        (JSON_FILE, json.dumps(plain_data(report), indent=2, allow_nan=False) + "\n"),
        (MARKDOWN_FILE, to_markdown(report)),
    ):
        write_whole(folder / name, text)
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
    rates = dict.fromkeys(run["learning_rate"] for run in runs)
    rows = []
    for rate in rates:
        values = [rank(run["value"]) for run in runs if run["learning_rate"] == rate]
        found = (statistics.median(values), min(values), max(values))
        median, least, most = (x if math.isfinite(x) else math.nan for x in found)
        rows.append(
            {
                "learning_rate": rate,
                "seeds": len(values),
                "median": median,
                "least": least,
                "most": most,
            }
        )
    return rows


def to_markdown(report: dict[str, Any]) -> str:
    best, metric = report["best"], report["metric"]
    scores = best["scores"]
    parts = [
        f"# Fine-tuning: {report['task']}",
        f"`{report['command']}`",
        _summary(report),
        *_dev_scores(scores),
        *_all_runs(report),
        *_types(scores["by_type"], "Entities" if report["task"] == "tag" else "Labels"),
        *_confusion(scores["confusion_labels"], scores["confusion"]),
    ]
    if scores.get("breakdown"):  # regression, questions and older runs have none
        parts += _breakdown(scores["breakdown"])
    parts += ["## Curves", _curves(report["history"], metric)]
    if best.get("kept_epochs"):
        parts += ["## Kept checkpoints", _kept_epochs(best["kept_epochs"], report, metric)]
    if report["notes"]:
        parts += ["## Notes", "\n".join(f"- {note}" for note in report["notes"])]
    return "\n\n".join(parts) + "\n"


def _summary(report: dict[str, Any]) -> str:
    """Return a summary: model, data, settings and speed."""
    best = report["best"]
    is_untrained = report.get("settings", {}).get("is_untrained")
    start = ", its shape with random weights" if is_untrained else ""
    rows = [
        ("Checkpoint", report["checkpoint"] + start),
        ("Class in transformers", report["architecture"]),
        ("Labels", ", ".join(report["labels"]) or "none"),
        ("Training data", f"{report['train']} ({report['num_train']:,} examples)"),
        ("Dev data", f"{report['dev']} ({report['num_dev']:,} examples)"),
        ("Learning rate, seed", f"{best['learning_rate']:g}, {best['seed']}"),
        ("Epochs, batch size", f"{best['epochs']}, {best['batch_size']}"),
        *_against_bias(report.get("settings", {})),
        ("Steps", f"{best['num_steps']:,}; the best on the dev data was {best['best_step']:,}"),
        (
            "Speed",
            f"{best['examples_per_second']:,.0f} examples/s, {best['seconds']:,.0f} s; "
            f"{best['share_padding']:.1%} of the tokens were padding",
        ),
        *report["versions"].items(),
    ]
    return _table(("", ""), rows)


def _against_bias(settings: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the measures taken against bias; nothing for older runs."""
    rows = []
    if swap := settings.get("swap"):
        rows.append(("Words swapped in training", f"{swap['name']}: {len(swap['pairs'])} pairs"))
    if settings.get("balance"):
        rows.append(("Balanced by", str(settings["balance"])))
    if settings.get("bias_model"):
        rows.append(("Weighed by the bias of", settings["bias_model"]))
    return rows


def _dev_scores(scores: dict[str, Any]) -> list[str]:
    rows = [
        (name, f"{value:.4f}", interval(scores["intervals"].get(name)))
        for name, value in scores["metrics"].items()
    ]
    return [
        "## Scores on the dev data",
        _table(("metric", "value", "95% interval"), rows),
        "The step and the run were chosen on these data, so expect slightly lower scores on new "
        "data. Intervals are bootstrap intervals over the examples; those of shares of right "
        "answers are Wilson's.",
        *scores["notes"],
    ]


def _all_runs(report: dict[str, Any]) -> list[str]:
    """Return the medians of several runs, and how many are still to be done."""
    parts = []
    if len(report["runs"]) > 1:
        rows = [
            (
                f"{row['learning_rate']:g}",
                str(row["seeds"]),
                *(number(row[name]) for name in ("median", "least", "most")),
            )
            for row in report["medians"]
        ]
        diverged = [
            f"- Learning rate {run['learning_rate']:g}, seed {run['seed']}: {run['diverged']}"
            for run in report["runs"]
            if "diverged" in run
        ]
        parts += [
            f"## All runs: {report['metric']}",
            _table(("learning rate", "seeds", "median", "least", "most"), rows),
            "The checkpoint in this folder is that of the single best run.",
        ]
        if diverged:
            parts += ["Runs that diverged count as the worst:", "\n".join(diverged)]
    if len(report["runs"]) < report["num_planned"]:
        parts.append(
            f"**Not finished:** {len(report['runs'])} of {report['num_planned']} runs are done."
        )
    return parts


def _types(by_type: dict[str, dict[str, Any]], heading: str) -> list[str]:
    """Return the scores of each type of entity or label; nothing if the task has none."""
    rows = [
        (
            name,
            *(f"{values[part]:.4f}" for part in ("precision", "recall", "f1")),
            str(values["number"]),
        )
        for name, values in by_type.items()
    ]
    columns = ("type", "precision", "recall", "F1", "number")
    return [f"## {heading}", _table(columns, rows)] if rows else []


def _confusion(labels: Sequence[str], counts: Sequence[Sequence[int]]) -> list[str]:
    """Return the confusion matrix, if there are labels and not too many."""
    if not 0 < len(labels) <= _CONFUSION_LABELS:
        return []
    rows = [
        (label, *(f"{count:,}" for count in row)) for label, row in zip(labels, counts, strict=True)
    ]
    return [
        "## Confusion matrix",
        "Right labels by row, predicted ones by column.",
        _table(("", *labels), rows),
    ]


def _breakdown(breakdown: dict[str, Any]) -> list[str]:
    """Return calibration, and accuracy by length and label; only the worst of many labels."""
    labels = breakdown["by_label"]
    heading = "## Accuracy by right label"
    if len(labels) > _SLICED_LABELS:
        heading += f": the worst {_SLICED_LABELS} of {len(labels):,}"
        labels = sorted(labels, key=lambda one: float(one["mean"]))[:_SLICED_LABELS]
    columns = ("answers", "right", "95% interval")
    return [
        "## Calibration",
        f"Expected calibration error {breakdown['expected_calibration_error']:.4f}, the largest "
        f"of a row {breakdown['largest_calibration_error']:.4f}: how far apart confidence and "
        "accuracy are.",
        _table(
            ("confidence", "answers", "mean confidence", "right", "95% interval"),
            [
                (
                    f"{one['above']:.1f} to {one['up_to']:.1f}",
                    f"{one['number']:,}",
                    f"{one['confidence']:.4f}",
                    f"{one['accuracy']:.4f}",
                    interval((one["low"], one["high"])),
                )
                for one in breakdown["calibration"]
            ],
        ),
        "## Accuracy by length",
        _table(("tokens", *columns), _slices(breakdown["by_length"])),
        heading,
        _table(("label", *columns), _slices(labels)),
    ]


def _slices(slices: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (
            slice_["name"],
            f"{slice_['number']:,}",
            f"{slice_['mean']:.4f}",
            interval((slice_["low"], slice_["high"])),
        )
        for slice_ in slices
    ]


def _curves(history: Sequence[dict[str, Any]], metric: str) -> str:
    """Return loss and dev scores over the run, thinned to some rows; all are in report.json."""
    losses = [line for line in history if "loss" in line]
    evaluations = [line for line in history if "dev_loss" in line]
    every = max(1, len(losses) // _CURVE_ROWS)
    chosen = sorted(
        [*losses[every - 1 :: every], *evaluations],
        key=lambda line: (line["step"], "dev_loss" in line),
    )
    rows = [
        (
            f"{line['step']:,}",
            f"{line['epoch']:.2f}",
            f"{line['loss']:.4f}" if "loss" in line else "",
            f"{line['dev_loss']:.4f}" if "dev_loss" in line else "",
            f"{line[f'dev_{metric}']:.4f}" if f"dev_{metric}" in line else "",
        )
        for line in chosen
    ]
    return _table(("step", "epoch", "training loss", "dev loss", f"dev {metric}"), rows)


def _kept_epochs(kept: Sequence[dict[str, Any]], report: dict[str, Any], metric: str) -> str:
    """Return the checkpoints of the best run's epochs, each with its score."""
    scored = {line["epoch"]: line for line in report["history"] if "dev_loss" in line}
    rows = []
    for one in kept:
        line = scored[float(one["epoch"])]
        value = line[f"dev_{metric}"]
        rows.append((f"{one['epoch']}", f"{line['dev_loss']:.4f}", f"{value:.4f}", one["folder"]))
    return _table(("epoch", "dev loss", f"dev {metric}", "folder"), rows)


def number(value: float) -> str:
    """Return a score of runs as text; "diverged" for those that did."""
    return "diverged" if math.isnan(value) else f"{value:.4f}"


def interval(pair: Sequence[float | None] | None) -> str:
    """Return an interval as text; "" if there is none, as for a single example."""
    low, high = pair or (None, None)
    if low is None or high is None or math.isnan(low):
        return ""
    return f"{low:.4f} to {high:.4f}"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rules = [":--", *["--:"] * (len(columns) - 1)] if len(columns) > 2 else [":--", ":--"]
    lines = [columns, rules, *([_escape(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escape(cell: str) -> str:
    return str(cell).replace("|", "\\|").replace("\n", " ")
