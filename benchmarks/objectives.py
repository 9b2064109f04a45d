"""Pretraining objectives at equal size and equal processor time, then fine-tuned alike.

Each objective trains the same network on the same text for the same processor time on one core. The
seconds per step are measured first, for all of them in turns on an idle machine
(`--objective-speeds`), and determine the numbers of steps, so a row does not depend on the load of
the machine. Other trained parts (ELECTRA's generator, the boundary head) share this time. Runs are
stored in `--objective-runs` and resumed there; speeds and finished rows are stored in the file that
the page Objectives reads. The table can therefore be made in parts; each row takes 30 to 45 minutes
on one core.
"""

import hashlib
import itertools
import json
import math
import shutil
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks import finetune_tasks, tables
from benchmarks.finetune_tasks import SPECS, Spec
from bertcore import load
from bertcore.model.architecture.config import shape_of
from bertcore.model.bert import Bert
from bertcore.model.loading import load_bert
from bertcore.training.engine.loop import Progress
from bertcore.training.grammar import (
    MinimalPair,
    accuracies,
    bundled_pairs,
    read_pairs,
    reads_from_left,
    score_pairs,
)
from bertcore.training.pretraining import (
    DataConfig,
    OptimizerConfig,
    Pretraining,
    RunFolder,
    TrainConfig,
    evaluate_pretraining,
    fixed_batches,
    pack_corpus,
    read_sentences,
    resume_run,
    start_run,
)

RESULT = "benchmark.json"
ROWS = Path(__file__).parents[1] / "bertcore" / "analysis" / "objectives" / "equal_time.json"
"""Settings, training text, seconds per step and finished rows; read by the page Objectives."""
WARM_UP_STEPS, MEASURED_STEPS, SPEED_ROUNDS = 5, 20, 2
HELD_OUT_ROWS = 1024
SETS = ("SST-2", "CoLA", "RTE", "MRPC", "CoNLL-2003", "QA")
SAMPLES = {"SST-2": 10_000, "CoNLL-2003": 5_000, "QA": 4_000}
"""Training examples taken from the large sets; the others are used whole."""
EPOCHS = 2
SST2_SAMPLE = 20_000
"""SST-2 examples for `families`; most of its 67,349 are only phrases of sentences."""


@dataclass(slots=True)
class Options:
    """Set by the command line."""

    runs: Path = Path("runs/objectives")
    corpus: tuple[Path, ...] = ()
    valid: Path | None = None
    minutes: float = 20.0
    """Processor time on one core, per objective."""
    blimp: Path | None = None
    every: int = 20
    only: tuple[str, ...] = ()
    only_speeds: bool = False
    layers: int = 4
    hidden: int = 256
    seed: int = 1


OPTIONS = Options()


@dataclass(frozen=True, slots=True)
class Variant:
    """An objective, or a variant for comparison."""

    name: str
    data: dict[str, Any] = field(default_factory=dict)
    train: dict[str, Any] = field(default_factory=dict)
    shape: dict[str, Any] = field(default_factory=dict)
    family: str = "bert"


VARIANTS = (
    Variant("mlm+nsp (BERT)"),
    # How much two runs of one row differ.
    Variant("mlm+nsp (BERT), second run", {}, {"seed": 2}),
    Variant("mlm, no next sentence", {"objective": "mlm"}),
    Variant("mlm, static masks (10)", {"objective": "mlm", "dupe_factor": 10}),
    Variant("mlm, 100/0/0", {"objective": "mlm", "mask_shares": "100/0/0"}),
    Variant(
        "mlm, sinusoids, not trained",
        {"objective": "mlm"},
        {},
        {"position_embedding": "sinusoidal"},
    ),
    Variant("wwm", {"objective": "wwm"}),
    Variant("span-sbo", {"objective": "span-sbo"}),
    # Sentence order needs a head that only ALBERT has; its layers share their weights.
    Variant("mlm (ALBERT)", {"objective": "mlm"}, family="albert"),
    Variant("mlm+sop (ALBERT)", {"objective": "mlm+sop"}, family="albert"),
    Variant("rtd", {"objective": "rtd"}),
    Variant("plm", {"objective": "plm"}),
    Variant("unilm", {"objective": "unilm"}),
    Variant("causal", {"objective": "causal"}),
)


def run() -> str:
    """Return the table of the objectives' scores at equal size and time.

    Rows in the file are read; the others of `--objective-only` (default: all) are measured and
    added to it.

    Raises:
        ValueError: If a row must be measured and a file or folder is missing, or the file was made
            with other settings or from other text.
    """
    chosen = [v for v in VARIANTS if not OPTIONS.only or v.name in OPTIONS.only]
    if any(variant.name not in read_rows(ROWS)["rows"] for variant in chosen):
        _check_files()
        check_text(ROWS)
        add_speeds(ROWS, VARIANTS)
    for variant in [] if OPTIONS.only_speeds else chosen:
        if variant.name not in read_rows(ROWS)["rows"]:
            keep(ROWS, "rows", {variant.name: measured(variant)})
    return table(read_rows(ROWS))


def table(found: dict[str, Any]) -> str:
    """Return the contents of the file as text and a table."""
    rows, made, specs = found["rows"], settings(), labelled_sets()
    missing = [variant.name for variant in VARIANTS if variant.name not in rows]
    columns = (
        "objective",
        "steps",
        "tokens",
        "masked-word loss",
        "our 200 pairs",
        "BLiMP",
        *(f"{spec.name} ({' / '.join(spec.metrics)})".replace("_", " ") for spec in specs),
    )
    lines = []
    for name, row in ((v.name, rows[v.name]) for v in VARIANTS if v.name in rows):
        line = [name, f"{row['steps']:,}", f"{row['num_tokens'] / 1e6:.1f} M"]
        line.append("–" if row["mlm_loss"] is None else f"{row['mlm_loss']:.3f}")
        line += ["–" if row[n] is None else f"{100 * row[n]:.1f}" for n in ("pairs", "blimp")]
        line += [_figure(spec, row["sets"][spec.name]) for spec in specs]
        lines.append(line)
    return "\n\n".join(
        [
            f"{made['layers']} layers of {made['hidden']}, {made['minutes']:g} minutes on one core "
            f"each, the same text, seed {made['seed']}; fine-tuned with "
            f"{made['fine-tuning seeds']} seeds (QA one) for {EPOCHS} epochs, medians; "
            + ", ".join(f"{name} from {number:,}" for name, number in SAMPLES.items())
            + " examples; –: no such head.",
            *([f"Not measured yet: {'; '.join(missing)}."] if missing else []),
            tables.markdown(columns, lines),
        ]
    )


def _figure(spec: Spec, seeds: Sequence[dict[str, float]] | None) -> str:
    return "–" if seeds is None else finetune_tasks.figure(spec, seeds)


def _check_files() -> None:
    if not OPTIONS.corpus or OPTIONS.valid is None or finetune_tasks.OPTIONS.tasks is None:
        raise ValueError(
            f"{ROWS.name} does not contain all rows; to measure the others, objectives needs "
            "--objective-corpus FILE ..., --objective-valid FILE, --tasks FOLDER."
        )


def check_text(path: Path) -> None:
    """Add the names and hashes of the training text to a file that lacks them.

    Raises:
        ValueError: If its rows were trained on other text.
    """
    assert OPTIONS.valid is not None
    text = {
        one.name: hashlib.sha256(one.read_bytes()).hexdigest()
        for one in (*OPTIONS.corpus, OPTIONS.valid)
    }
    found = read_rows(path)
    if found.get("text", text) != text:
        raise ValueError(
            f"{path} was measured on {', '.join(found['text'])}, and these files differ: "
            f"{', '.join(text)}. All rows of a table need the same text, byte for byte."
        )
    if "text" not in found:
        path.write_text(as_json({"text": text, **found}), encoding="utf-8")


def measured(variant: Variant) -> dict[str, Any]:
    """Return the row of a variant: its run, its scores, and each seed's metrics on each set."""
    trained = pretrained(variant)
    checkpoint = trained["checkpoint"]
    return {
        **{name: trained[name] for name in ("steps", "num_tokens")},
        **scores_without_tuning(variant, Path(checkpoint)),
        "sets": {spec.name: fine_tuned(variant, spec, checkpoint) for spec in labelled_sets()},
    }


def labelled_sets() -> list[Spec]:
    """Return the labelled sets with fewer examples and epochs than in `finetune_tasks`."""
    return [
        replace(
            spec,
            epochs=EPOCHS,
            more={**spec.more, **({"sample": SAMPLES[spec.name]} if spec.name in SAMPLES else {})},
        )
        for spec in SPECS
        if spec.name in SETS
    ]


def settings() -> dict[str, Any]:
    """Return the settings that all rows of a table must share."""
    options = OPTIONS
    return {
        "layers": options.layers,
        "hidden": options.hidden,
        "minutes": options.minutes,
        "seed": options.seed,
        "fine-tuning seeds": finetune_tasks.OPTIONS.num_seeds,
        "every n-th pair of BLiMP": options.every,
        "samples": SAMPLES,
        "epochs": EPOCHS,
    }


def read_rows(path: Path) -> dict[str, Any]:
    """Return the settings, seconds per step and rows of a file.

    Raises:
        ValueError: If they were measured with other settings.
    """
    if not path.is_file():
        return {"settings": settings(), "seconds_a_step": {}, "rows": {}}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if found["settings"] != settings():
        raise ValueError(
            f"{path} was measured with {found['settings']}, and this run has {settings()}. All "
            "rows of a table need the same settings: choose those of the file, or move it away."
        )
    return found


def keep(path: Path, part: str, more: dict[str, Any]) -> None:
    """Add entries to a part of a file, reread first because another process may have changed it."""
    found = read_rows(path)
    found[part].update(more)
    path.write_text(as_json(found), encoding="utf-8")


def as_json(found: dict[str, Any]) -> str:
    """Return the results file as text."""
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def folder_of(variant: Variant) -> Path:
    """Return the folder of a variant's run and results."""
    return OPTIONS.runs / "".join(c if c.isalnum() or c in "+-" else "-" for c in variant.name)


def kept(path: Path, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return a result from its file, or compute and write it."""
    if path.is_file():
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found
    result = compute()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result) + "\n", encoding="utf-8")
    return result


def kept_seconds(variant: Variant) -> float:
    """Return the seconds per step from the results file."""
    seconds: float = read_rows(ROWS)["seconds_a_step"][variant.name]
    return seconds


def pretrained(
    variant: Variant, seconds_a_step: Callable[[Variant], float] = kept_seconds
) -> dict[str, Any]:
    """Return the steps, tokens and checkpoint of a variant, training the rest if necessary."""
    folder = folder_of(variant)

    def train() -> dict[str, Any]:
        seconds = seconds_a_step(variant)
        steps = max(1, round(60 * OPTIONS.minutes / seconds))
        place = folder / "run"
        if (place / "config.json").is_file():
            run = resume_run(place)
        else:
            run = begin(variant, place, steps)
        run.run(on_notice=lambda notice: print(notice, flush=True))
        checkpoint = RunFolder(place).checkpoints()[-1]
        result = {
            "steps": run.progress.step,
            "num_tokens": run.progress.num_tokens,
            "seconds_a_step": seconds,
            "checkpoint": str(checkpoint),
        }
        print(f"{variant.name}: {result}", flush=True)
        return result

    return kept(folder / RESULT, train)


def add_speeds(path: Path, variants: Sequence[Variant]) -> None:
    """Measure the seconds per step missing from a file, in turns, and add the minimum of each."""
    lacking = [v for v in variants if v.name not in read_rows(path)["seconds_a_step"]]
    for number in range(SPEED_ROUNDS):
        for variant in lacking:
            earlier = read_rows(path)["seconds_a_step"].get(variant.name, math.inf)
            print(f"{variant.name}, round {number + 1} of {SPEED_ROUNDS}", flush=True)
            keep(path, "seconds_a_step", {variant.name: min(earlier, speed(variant))})


def speed(variant: Variant) -> float:
    """Return the processor time of a step in seconds, from a run that is discarded."""
    place = folder_of(variant) / "speed-run"
    shutil.rmtree(place, ignore_errors=True)
    assert OPTIONS.valid is not None
    # Packing the held-out text takes a few seconds, and a step on it takes as long.
    run = begin(variant, place, WARM_UP_STEPS + MEASURED_STEPS, (OPTIONS.valid,))
    clock: list[float] = []

    def note(progress: Progress) -> None:
        clock.append(time.process_time())

    run.run(on_progress=note, on_notice=lambda notice: None)
    shutil.rmtree(place)
    # The last step's time includes the final evaluation.
    spans = [b - a for a, b in itertools.pairwise(clock)][WARM_UP_STEPS:-1]
    return statistics.median(spans)


def begin(variant: Variant, folder: Path, steps: int, corpus: Sequence[Path] = ()) -> Pretraining:
    """Start the run of a variant, on the corpus of the options if none is given."""
    tokenizer = load("default").tokenizer
    shape = shape_of(
        variant.family,
        vocab_size=tokenizer.vocab_size,
        num_hidden_layers=OPTIONS.layers,
        hidden_size=OPTIONS.hidden,
        pad_token_id=tokenizer.pad_id,
    )
    assert OPTIONS.valid is not None
    return start_run(
        folder,
        corpus=list(corpus or OPTIONS.corpus),
        valid=OPTIONS.valid,
        tokenizer=tokenizer,
        shape=replace(shape, **variant.shape),
        train_config=TrainConfig(
            steps=steps,
            # Compiling only some of them would be unfair.
            compile="off",
            evaluate_every=10**9,
            save_every=250,
            **{"seed": OPTIONS.seed, **variant.train},
        ),
        data_config=DataConfig(**variant.data),
        optimizer_config=OptimizerConfig(),
        command="python -m benchmarks objectives",
    )


def scores_without_tuning(variant: Variant, checkpoint: Path) -> dict[str, float | None]:
    """Return masked-word loss and accuracy on our 200 pairs and BLiMP; None without the head."""

    def compute() -> dict[str, float | None]:
        assert OPTIONS.valid is not None
        bert = load_bert(checkpoint, device="cpu")
        has_masks = "mlm" not in bert.absent
        if not has_masks and not reads_from_left(bert):
            return {"mlm_loss": None, "pairs": None, "blimp": None}
        return {
            "mlm_loss": masked_word_loss(bert, OPTIONS.valid) if has_masks else None,
            "pairs": exam(bert, bundled_pairs().pairs),
            "blimp": None
            if OPTIONS.blimp is None
            else exam(bert, read_pairs(OPTIONS.blimp).pairs[:: OPTIONS.every]),
        }

    return kept(folder_of(variant) / "scores.json", compute)


def masked_word_loss(bert: Bert, valid: Path) -> float:
    """Return the loss in nats on packed rows of a held-out text, 15% hidden, 80/10/10."""
    corpus = pack_corpus(read_sentences([valid]), bert.tokenizer)
    config = DataConfig(objective="mlm")
    batches = fixed_batches(corpus, bert.tokenizer, config, seed=0, num_rows=HELD_OUT_ROWS)
    return evaluate_pretraining(bert.module, batches, bert.tokenizer).mlm_loss


def exam(bert: Bert, pairs: Sequence[MinimalPair]) -> float:
    """Return the accuracy on minimal pairs; ties count as wrong."""
    scores = [score for part in score_pairs(bert, pairs) for score in part]
    return accuracies(scores, ())[0].accuracy


def tuned(variant: Variant, spec: Spec, checkpoint: str) -> str:
    """Return the median over seeds of a labelled set in percent; "–" without such a head."""
    return _figure(spec, fine_tuned(variant, spec, checkpoint))


def fine_tuned(variant: Variant, spec: Spec, checkpoint: str) -> list[dict[str, float]] | None:
    """Return each seed's metrics on a labelled set; None if the checkpoint has no such head."""
    seeds = range(1, min(finetune_tasks.OPTIONS.num_seeds, spec.most_seeds) + 1)
    changed = replace(spec, more={**spec.more, "checkpoint": checkpoint})
    try:
        results = [finetune_tasks.fine_tune(changed, seed, folder_of(variant)) for seed in seeds]
    except ValueError as error:
        print(f"{variant.name}, {spec.name}: {error}", flush=True)
        return None
    return [{name: one["metrics"][name] for name in spec.metrics} for one in results]
