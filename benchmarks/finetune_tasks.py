"""The shipped checkpoint fine-tuned on labelled sets, beside published figures of small BERTs.

The sets are not part of the project: the folder `--tasks` contains one folder for each set, in the
formats in which their authors publish them (GLUE, SICK, CoNLL, SQuAD), compressed or not. Runs are
stored in `--runs` and resumed there; a finished run is only read again.
"""

import json
import lzma
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import tables
from bertcore.training.finetuning import make_settings, resume_experiment, start_experiment
from bertcore.training.finetuning.settings import SETTINGS_FILE
from bertcore.training.tasks import open_task_model, read_task_data, score_model

RESULT = "benchmark.json"


@dataclass(slots=True)
class Options:
    """Set by the command line."""

    tasks: Path | None = None
    """Folder of the labelled sets."""
    runs: Path = Path("runs/finetune-tasks")
    num_seeds: int = 3
    only: tuple[str, ...] = ()
    """Names of the sets to use; empty: all."""


OPTIONS = Options()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A labelled set: its training, its metrics, and published scores."""

    name: str
    task: str
    train: str
    dev: str
    test: str | None = None
    """The file that is scored, if it is not `dev`; it is not used to choose the epoch."""
    metrics: tuple[str, ...] = ("accuracy",)
    metric: str | None = None
    """Chooses the best epoch."""
    epochs: int = 4
    published: tuple[str, str, str] = ("", "", "")
    """BERT-Tiny, Mini and Small on GLUE's test sets (Turc et al. 2019)."""
    note: str = ""
    most_seeds: int = 99
    """Maximum number of seeds, for slow sets."""
    more: dict[str, Any] = field(default_factory=dict)


SPECS = (
    Spec(
        name="SST-2",
        task="classify",
        train="SST-2/train.tsv",
        dev="SST-2/dev.tsv",
        epochs=3,
        published=("83.2", "85.9", "89.7"),
        note="dev",
    ),
    Spec(
        name="MRPC",
        task="pair",
        train="MRPC/msr_paraphrase_train.tsv",
        dev="a tenth of train",
        test="MRPC/msr_paraphrase_test.tsv",
        metrics=("f1", "accuracy"),
        metric="f1",
        published=("81.1 / 71.1", "81.1 / 71.8", "83.4 / 76.2"),
        note="test",
    ),
    Spec(
        name="RTE",
        task="pair",
        train="RTE/train.tsv",
        dev="RTE/dev.tsv",
        published=("57.2", "57.9", "61.8"),
        note="dev",
    ),
    Spec(
        name="STS-B",
        task="regress",
        train="STS-B/sts-train.tsv",
        dev="STS-B/sts-dev.tsv",
        test="STS-B/sts-test.tsv",
        metrics=("pearson", "spearman"),
        published=("74.3 / 73.6", "75.4 / 73.3", "78.8 / 77.0"),
        note="test",
    ),
    Spec(
        name="CoLA",
        task="classify",
        train="CoLA/train.tsv",
        dev="CoLA/dev.tsv",
        metrics=("matthews",),
        metric="matthews",
        published=("0.0", "0.0", "27.8"),
        note="dev",
    ),
    Spec(
        name="SICK",
        task="pair",
        train="SICK/train.tsv",
        dev="SICK/trial.tsv",
        test="SICK/test.tsv",
        note="test, entailment",
    ),
    Spec(
        name="CoNLL-2003",
        task="tag",
        train="CoNLL-2003/train.txt",
        dev="CoNLL-2003/valid.txt",
        test="CoNLL-2003/test.txt",
        metrics=("f1",),
        note="test, entities",
    ),
    Spec(
        name="QQP, sample",
        task="pair",
        train="QQP-sample/train.tsv",
        dev="QQP-sample/dev.tsv",
        metrics=("f1", "accuracy"),
        epochs=3,
        published=("62.2 / 83.4", "66.4 / 86.2", "68.1 / 87.0"),
        note="dev, 19,000 of 364,000 pairs",
    ),
    Spec(
        name="QA",
        task="qa",
        train="QAMR, SubjQA and BiPaR",
        dev="600 questions of QAMR",
        test="SQuAD/dev-v1.1.json",
        metrics=("f1", "exact_match"),
        epochs=2,
        note="part of SQuAD 1.1 dev; no SQuAD in training, so not comparable",
        most_seeds=1,
    ),
)


def run() -> str:
    """Return a table of the shipped checkpoint's scores on each set."""
    if OPTIONS.tasks is None:
        raise ValueError("the folder of the labelled sets is missing. Give it with --tasks.")
    rows = []
    for spec in SPECS:
        if OPTIONS.only and spec.name not in OPTIONS.only:
            continue
        num_seeds = min(OPTIONS.num_seeds, spec.most_seeds)
        results = [fine_tune(spec, seed) for seed in range(1, num_seeds + 1)]
        figures = [figure(spec, [one["metrics"] for one in results])]
        spread = ""
        if len(results) > 1:
            values = [100 * one["metrics"][spec.metrics[0]] for one in results]
            spread = f"{min(values):.1f} to {max(values):.1f}"
        rate, seconds = (
            results[0]["learning_rate"],
            statistics.median(f["seconds"] for f in results),
        )
        rows.append(
            (
                spec.name,
                spec.note,
                f"{results[0]['num_train']:,}",
                ", ".join(spec.metrics).replace("_", " "),
                *figures,
                spread,
                str(num_seeds),
                *(one or "–" for one in spec.published),
                f"{rate:g} x {spec.epochs}",
                f"{seconds:,.0f} s",
            )
        )
    columns = ("set", "evaluated on", "examples", "metric", "ours, median")
    more = ("range", "seeds", "Tiny", "Mini", "Small", "learning rate x epochs", "training time")
    return tables.markdown(columns + more, rows)


def figure(spec: Spec, metrics: Sequence[dict[str, float]]) -> str:
    """Return the medians of a set's metrics in percent, as "81.1 / 71.8"."""
    medians = [100 * statistics.median(one[name] for one in metrics) for name in spec.metrics]
    return " / ".join(f"{value:.1f}" for value in medians)


def fine_tune(spec: Spec, seed: int, runs: Path | None = None) -> dict[str, Any]:
    """Return the result of one seed; resumes an earlier run.

    Args:
        spec: The labelled set; `more` may name another checkpoint.
        seed: Seed of the new head and of the order of examples.
        runs: Folder of the runs; None: `OPTIONS.runs`.
    """
    folder = (runs or OPTIONS.runs) / spec.name.replace(", ", "-") / f"seed-{seed}"
    done = folder / RESULT
    if done.is_file():
        result: dict[str, Any] = json.loads(done.read_text(encoding="utf-8"))
        return result
    if (folder / SETTINGS_FILE).is_file():
        experiment = resume_experiment(folder)
    else:
        train, dev = files(spec)
        settings = make_settings(
            task=spec.task,
            train=train,
            dev=dev,
            seeds=(seed,),
            epochs=spec.epochs,
            metric=spec.metric,
            **spec.more,
        )
        experiment = start_experiment(folder, settings)
    report = experiment.run()
    assert report is not None
    best = report["best"]
    scores = best["scores"]["metrics"] if spec.test is None else judge(spec, folder)
    result = {
        "metrics": scores,
        "learning_rate": best["learning_rate"],
        "num_train": report["num_train"],
        "seconds": best["seconds"],
    }
    done.write_text(json.dumps(result) + "\n", encoding="utf-8")
    print(f"{spec.name}, seed {seed}: {figure(spec, [scores])}", flush=True)
    return result


def judge(spec: Spec, folder: Path) -> dict[str, float]:
    """Return the metrics of a fine-tuned folder on the test file."""
    assert spec.test is not None
    model = open_task_model(str(folder), task=spec.task)
    examples = read_task_data(
        source(spec.test),
        model.task,
        model.tokenizer,
        max_length=model.max_seq_length or 128,
        labels=model.labels if model.task.has_labels else None,
        is_train=False,
    )
    return score_model(model.module, examples, model.task).scores.metrics


def source(name: str) -> Path:
    """Return the path of a file of the labelled sets, compressed or not.

    Raises:
        ValueError: If it does not exist.
    """
    assert OPTIONS.tasks is not None
    plain = OPTIONS.tasks / name
    for path in (plain, plain.with_name(plain.name + ".xz")):
        if path.is_file():
            return path
    raise ValueError(f"neither {plain} nor its .xz exists. Check --tasks.")


def files(spec: Spec) -> tuple[Path, Path]:
    """Return the files for training and for choosing the epoch, created if not published."""
    folder = OPTIONS.runs / "data"
    folder.mkdir(parents=True, exist_ok=True)
    if spec.name == "MRPC":
        return split_lines(source(spec.train), folder)
    if spec.name == "QA":
        return join_questions(folder)
    return source(spec.train), source(spec.dev)


def split_lines(path: Path, folder: Path) -> tuple[Path, Path]:
    """Split a table at random into nine tenths and one tenth, with a fixed seed."""
    header, *lines = read(path).splitlines()
    random.Random(0).shuffle(lines)
    cut = len(lines) // 10
    paths = folder / "MRPC-train.tsv", folder / "MRPC-dev.tsv"
    for place, part in zip(paths, (lines[cut:], lines[:cut]), strict=True):
        place.write_text("\n".join([header, *part]) + "\n", encoding="utf-8")
    return paths


def join_questions(folder: Path) -> tuple[Path, Path]:
    """Write the answerable questions of three sets, and 600 dev questions, to one file each."""
    names = (
        "QAMR/train-from-qamr-dev.squad.json",
        "SubjQA/train.squad2.json",
        "BiPaR/en_valid.json",
    )
    articles = [article for name in names for article in json.loads(read(source(name)))["data"]]
    for article in articles:
        for paragraph in article["paragraphs"]:
            paragraph["qas"] = [qa for qa in paragraph["qas"] if not qa.get("is_impossible")]
    dev = json.loads(read(source("QAMR/dev-from-qamr-test.squad.json")))["data"]
    random.Random(0).shuffle(dev)
    chosen, num = [], 0
    for article in dev:
        if num >= 600:
            break
        chosen.append(article)
        num += sum(len(paragraph["qas"]) for paragraph in article["paragraphs"])
    paths = folder / "QA-train.json", folder / "QA-dev.json"
    for place, part in zip(paths, (articles, chosen), strict=True):
        place.write_text(json.dumps({"version": "1.1", "data": part}), encoding="utf-8")
    return paths


def read(path: Path) -> str:
    """Return the text of a file, compressed or not."""
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8").read()
    return path.read_text(encoding="utf-8")
