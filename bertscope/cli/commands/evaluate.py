"""`bertscope evaluate`: score a checkpoint on held-out text or on labelled examples."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from bertcore.base.json_data import plain_data
from bertcore.configs import Columns
from bertscope.cli.commands.finetune import metrics_table
from bertscope.cli.commands.text import AsJson
from bertscope.cli.files import check_target, table_bytes, write_whole
from bertscope.cli.options import chosen, config_options, field_names, refuse_options
from bertscope.cli.output import counted, plain, print_json, print_table, tabulate
from bertscope.cli.progress import OnStage, stages

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from bertcore.model.bert import Bert
    from bertcore.model.model import Model
    from bertcore.training.evaluation.metrics import Scores
    from bertcore.training.pretraining import Batch
    from bertcore.training.tasks.model import TaskModel

MASKED_WORDS = "mlm"
"""The task of held-out text for a checkpoint that fills in masks."""
NEXT_TOKENS = "causal"
"""The task of held-out text for a checkpoint that predicts the next token."""
MINIMAL_PAIRS = "minimal-pairs"
"""The task of pairs of a good and a bad sentence."""
MOST_GROUPS = 40
"""Groups of pairs, and labels, that are printed, the worst ones; JSON has all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """The checkpoint to score, and how."""

    checkpoint: str = "default"
    """'default', a folder, or a hub id such as bert-base-uncased."""
    max_seq_length: int | None = None
    """Longest input in tokens; default: that of the fine-tuning, or 128 for mlm and causal."""
    device: str = "auto"
    """auto, cpu, cuda, cuda:1, mps."""
    allow_pickle: bool = False
    """Read a pytorch_model.bin (weights only) if there is no safetensors file."""
    rows: int = field(default=512, metadata={"min": 1})
    """mlm, causal: maximum number of rows to score."""
    skip_bad_rows: bool = False
    """Leave out rows that cannot be used; not for mlm or causal."""
    predictions: Path | None = None
    """Write a JSON line for each example, with its row, to this file; not for mlm or causal."""
    attributions: Path | None = None
    """Write what each word of each row adds to the given label or score to this .csv or .parquet
    file, and the mean by word and label beside it (NAME-means); for classify, pair, multilabel and
    regress. A killed run resumes with the same command."""

    def __post_init__(self) -> None:
        if self.predictions is not None:
            check_target(self.predictions, option="--predictions")
        if self.attributions is not None:
            ending = ".parquet" if self.attributions.suffix.lower() == ".parquet" else ".csv"
            check_target(self.attributions, ending, option="--attributions")


@config_options(
    (Subject, "checkpoint allow_pickle max_seq_length rows skip_bad_rows predictions attributions"),
    (Columns, "text text_pair label label_map"),
    (Subject, "device"),
)
def evaluate(
    context: typer.Context,
    data: Path | None = None,
    task: str = MASKED_WORDS,
    as_json: AsJson = False,
    **settings: Any,
) -> None:
    """Score a checkpoint on held-out text or on labelled examples.

    mlm uses fixed rows and fixed masks (15%, 80/10/10); without a next-sentence head it scores
    masked words alone. causal uses fixed rows and predicts each token from those before it.
    minimal-pairs sums the log-probabilities of the tokens, each hidden in turn or, with a causal
    checkpoint, given those before it. The other tasks need a checkpoint fine-tuned with bertscope
    finetune or transformers. Proportions have 95% intervals.

    Args:
        data: mlm, causal: held-out text (.txt, .xz, .gz), one paragraph per line, a blank line
            between documents. minimal-pairs: a table or JSON lines; default: our 200 pairs. Other
            tasks: labelled examples, as for bertscope finetune.
        task: mlm: masked words and next sentences; causal: next tokens; minimal-pairs: is the good
            sentence of a pair the more probable one? classify, pair, multilabel, regress, tag, qa,
            choice: as for bertscope finetune.

    \b
    Examples:
      bertscope evaluate --task mlm --data held-out.txt
      bertscope evaluate --data held-out.txt --checkpoint runs/mine/checkpoints/step-1000 --json
      bertscope evaluate --task causal --data held-out.txt --checkpoint causal
      bertscope evaluate --task minimal-pairs
      bertscope evaluate --task minimal-pairs --data blimp.jsonl --json
      bertscope evaluate --task classify --checkpoint sst2 --data dev.tsv
      bertscope evaluate --task multilabel --checkpoint toxicity --data test.csv
        --label toxic,insult,threat
      bertscope evaluate --task qa --checkpoint squad --data dev.json --predictions answers.jsonl
      bertscope evaluate --task classify --checkpoint sst2 --data dev.tsv
        --attributions words.parquet
    """
    from bertcore.training.tasks import TASKS

    subject = Subject(**chosen(Subject, settings))
    is_text, columns = task in (MASKED_WORDS, NEXT_TOKENS), field_names(Columns)
    if not is_text and task != MINIMAL_PAIRS and task not in TASKS:
        names = ", ".join((MASKED_WORDS, NEXT_TOKENS, MINIMAL_PAIRS, *TASKS))
        raise ValueError(f"--task is {task!r}; this version scores {names}.")
    if task not in TASKS:
        refuse_options(context, {*columns, "attributions"}, "it is for fine-tuned checkpoints")
    if is_text:
        refuse_options(context, {"skip_bad_rows", "predictions"}, "it is for labelled files")
    else:
        refuse_options(context, {"rows"}, "it is for held-out text")
    if task == MINIMAL_PAIRS:
        refuse_options(context, {"max_seq_length"}, "a pair is scored whole or not at all")
    elif data is None:
        raise ValueError("--data is missing. Name the file to score.")
    with stages() as on_stage:
        if task == MINIMAL_PAIRS:
            outcome = score_minimal_pairs(data, subject, on_stage)
        elif task in TASKS:
            assert data is not None
            of_file = Columns(**chosen(Columns, settings))
            outcome = score_task(task, data, subject, of_file, on_stage)
        else:
            assert data is not None
            score = score_masked_words if task == MASKED_WORDS else score_next_tokens
            outcome = score(data, subject, on_stage)
    if as_json:
        about = {"task": task, "checkpoint": subject.checkpoint, "data": data and str(data)}
        print_json({**about, **outcome.values, "notes": outcome.notes})
        return
    for table in outcome.tables:
        print_table(table)
    for note in outcome.notes:
        typer.echo(f"Note: {note}")


class Outcome(NamedTuple):
    """What an evaluation prints."""

    values: dict[str, Any]
    """In JSON."""
    tables: list[Table]
    notes: list[str]


def _open(subject: Subject) -> Model:
    from bertcore import load

    return load(subject.checkpoint, device=subject.device, allow_pickle=subject.allow_pickle)


def score_minimal_pairs(data: Path | None, subject: Subject, on_stage: OnStage) -> Outcome:
    """Score the minimal pairs of a file, or our own 200: the accuracy by group.

    ValueError if the checkpoint has neither a masked-word head nor a next-token head, or the file
    cannot be used.
    """
    from bertcore.data.files import BadRows
    from bertcore.training.grammar import BUNDLED, accuracies, read_pairs, score_pairs

    bad_rows = BadRows(skip=subject.skip_bad_rows)
    on_stage("reading the pairs", None)
    file = read_pairs(data or BUNDLED, bad_rows=bad_rows)
    what = f"scoring {len(file.pairs):,} pairs"
    parts = score_pairs(
        _open(subject), file.pairs, bad_rows=bad_rows, progress=lambda done: on_stage(what, done)
    )
    scores = [score for part in parts for score in part]
    if not scores:
        raise ValueError(f"no pair can be scored. {bad_rows.first}")
    if subject.predictions is not None:
        lines = ({"row": score.pair.row, "good": score.good, "bad": score.bad} for score in scores)
        _write_lines(subject.predictions, lines)
    notes, unknown = bad_rows.notes(), sum(score.num_unknown > 0 for score in scores)
    if unknown:
        notes.append(f"{counted(unknown, 'pair')} have a word that the vocabulary lacks.")
    rows = [
        {**asdict(group), "accuracy": group.accuracy} for group in accuracies(scores, file.columns)
    ]
    everything, groups = rows[0], sorted(rows[1:], key=lambda row: row["accuracy"])
    title = "Minimal pairs: the good sentence is the more probable one (chance: 0.5)"
    tables = [tabulate([everything], title=title)]
    if groups:
        title = f"The worst {MOST_GROUPS} groups" if len(groups) > MOST_GROUPS else ""
        shown = ("column", "group", "num_right", "num_pairs", "accuracy", "low", "high")
        tables.append(tabulate(groups, title=title, columns=shown, most=MOST_GROUPS))
    return Outcome({"all": everything, "groups": rows[1:]}, tables, notes)


def score_masked_words(data: Path, subject: Subject, on_stage: OnStage) -> Outcome:
    """Score a checkpoint's masked words and next sentences on held-out text.

    ValueError if the checkpoint lacks what the objective needs, or the text cannot be used.
    """
    from bertcore.training.pretraining import (
        DataConfig,
        evaluate_pretraining,
        fixed_batches,
        pack_corpus,
        read_sentences,
    )
    from bertcore.training.pretraining.data.corpus import check_counts, note_on_halves
    from bertcore.training.pretraining.run import HELD_OUT_SEED

    on_stage("reading the text", None)
    next(read_sentences([data]), None)  # before the checkpoint is opened
    bert = _with_berts_masks(_open(subject), subject)
    length = _text_length(subject, bert.config.max_length)
    can_pair = "nsp" in bert.capabilities and bert.config.type_vocab_size >= 2
    config = DataConfig.for_length(length, objective="mlm+nsp" if can_pair else "mlm")
    corpus = pack_corpus(read_sentences([data]), bert.tokenizer)
    notes: list[str] = []
    if config.has_pairs and corpus.most_sentences < 2:
        config = DataConfig.for_length(length, objective="mlm")
        notes.append(
            "no document of the text has two sentences, so there are no pairs: masked words alone "
            "are scored, on packed rows."
        )
    else:
        check_counts("valid", corpus.num_documents, corpus.most_sentences, rows=config.rows)
        notes += filter(None, [note_on_halves(corpus, config.rows)])
    batches = list(
        fixed_batches(corpus, bert.tokenizer, config, seed=HELD_OUT_SEED, num_rows=subject.rows)
    )

    def reported() -> Iterator[Batch]:
        for number, batch in enumerate(batches):
            on_stage("scoring", number / len(batches))
            yield batch

    scores = evaluate_pretraining(bert.module, reported(), bert.tokenizer)
    values = {"objective": config.objective, "max_seq_length": length, **scores.to_dict()}
    return Outcome(values, [_measures(values)], notes)


def _text_length(subject: Subject, limit: int) -> int:
    """Return the longest row of text in tokens; ValueError if the checkpoint does not take it."""
    length = min(128, limit) if subject.max_seq_length is None else subject.max_seq_length
    if not 3 <= length <= limit:
        raise ValueError(
            f"--max-seq-length is {length}; this checkpoint takes 3 to {limit} tokens."
        )
    return length


def _with_berts_masks(model: Model, subject: Subject) -> Bert:
    """Return a model that is scored on BERT's masks; other errors name the task to use."""
    from bertcore.model.bert import with_parts
    from bertcore.training.tasks import open_task_model

    if "mlm" not in model.capabilities and model.report and model.report.task.kind:
        own = open_task_model(subject.checkpoint, bert=model, allow_pickle=subject.allow_pickle)
        raise ValueError(f"{model.name!r} was fine-tuned: score it with --task {own.task.name}.")
    if "next" in model.capabilities:
        raise ValueError(f"{model.absent['mlm']} Score it with --task {NEXT_TOKENS}.")
    if "parts" not in model.capabilities:
        instead = f"Score it with --task {MINIMAL_PAIRS}, or a text with bertscope loss."
        if "mlm" not in model.capabilities:
            instead = model.absent["mlm"]
        raise ValueError(
            f"--task {MASKED_WORDS} scores checkpoints of the BERT family, but {model.name!r} is "
            f"{model.config.family.name}, which transformers runs. {instead}"
        )
    return with_parts(model)


def score_next_tokens(data: Path, subject: Subject, on_stage: OnStage) -> Outcome:
    """Score a causal checkpoint on held-out text.

    ValueError if the checkpoint does not predict next tokens, or the text cannot be used.
    """
    from bertcore.training.pretraining import causal_rows, evaluate_next_tokens, read_documents
    from bertcore.training.pretraining.run import HELD_OUT_SEED

    on_stage("reading the text", None)
    next(read_documents([data]), None)  # before the checkpoint is opened
    bert = _open(subject)
    bert.require("next")
    length = _text_length(subject, bert.max_length)
    rows = causal_rows(
        read_documents([data]),
        bert,
        max_seq_length=length,
        seed=HELD_OUT_SEED,
        num_rows=subject.rows,
    )
    scores = evaluate_next_tokens(bert, rows, progress=lambda done: on_stage("scoring", done))
    values = {"max_seq_length": length, **scores.to_dict()}
    return Outcome(values, [_measures(values)], [])


def _measures(values: Mapping[str, object]) -> Table:
    """Return scores of held-out text as a table: losses in nats, tops and accuracies 0 to 1."""
    return tabulate([{"measure": name, "value": value} for name, value in values.items()])


def score_task(
    task: str, data: Path, subject: Subject, columns: Columns, on_stage: OnStage
) -> Outcome:
    """Score a fine-tuned checkpoint on a labelled file, or a data set of the hub.

    ValueError if the checkpoint is for another task or the data cannot be used.
    """
    from bertcore.training.finetuning.data.hub_data import fetch_hub_data, is_hub_name
    from bertcore.training.tasks import open_task_model, read_task_data, score_model

    on_stage("opening the checkpoint", None)
    model = open_task_model(
        subject.checkpoint, task=task, device=subject.device, allow_pickle=subject.allow_pickle
    )
    length = model.default_length if subject.max_seq_length is None else subject.max_seq_length
    if not 8 <= length <= model.max_length:
        raise ValueError(
            f"--max-seq-length is {length}; this checkpoint takes 8 to {model.max_length}."
        )
    on_stage("reading the data", None)
    with tempfile.TemporaryDirectory() as fetched:
        if is_hub_name(str(data)):
            data = fetch_hub_data(str(data), Path(fetched), task=model.task.name, is_train=False)
        examples = read_task_data(
            data,
            model.task,
            model.tokenizer,
            max_length=length,
            labels=model.labels if model.task.has_labels else None,
            columns=columns,
            skip_bad_rows=subject.skip_bad_rows,
            is_train=False,
        )
    scored = score_model(
        model.module, examples, model.task, on_fraction=lambda done: on_stage("scoring", done)
    )
    scores = scored.scores
    if not math.isfinite(scores.loss):
        raise ValueError(
            f"the answers of {subject.checkpoint} are NaN or infinite, so they have no scores. "
            "Inspect its weights: bertscope inspect."
        )
    if subject.predictions is not None:
        lines: Iterable[Mapping[str, Any]] = scored.predictions
        if examples.file_rows:  # questions have an id instead
            pairs = zip(examples.file_rows, lines, strict=True)
            lines = ({"row": row, **line} for row, line in pairs)
        _write_lines(subject.predictions, lines)
    notes = [*model.notes, *examples.notes, *scores.notes]
    values, tables = {"max_seq_length": length, **asdict(scores)}, _task_tables(scores)
    if subject.attributions is not None:
        means = explain_to_file(model, data, subject, columns, on_stage)
        values["words"] = means.to_dict("records")
        shown = means[means["is_drawn"]][["group", "word", "rows", "mean", "low", "high"]]
        title = "Words that add most to a label"
        tables.append(tabulate(shown.to_dict("records"), title=title, most=len(shown)))
    return Outcome(values, tables, notes)


def explain_to_file(
    model: TaskModel, data: Path, subject: Subject, columns: Columns, on_stage: OnStage
) -> pd.DataFrame:
    """Write the attributions of all rows, and their means, to two files; return the means.

    A log beside them has each row as soon as it is done; a killed run resumes from it.
    """
    from bertcore.analysis.attribution import explain_file
    from bertscope.notebook.notebook_view import app_module

    out = subject.attributions
    assert out is not None
    log = out.with_name(f"{out.name}.log")
    explained = explain_file(
        model,
        data,
        columns=columns,
        skip_bad_rows=subject.skip_bad_rows,
        log=log,
        on_fraction=lambda done: on_stage("explaining the rows", done),
    )
    views = app_module("app.screens.inspect_checkpoint.views")
    means: pd.DataFrame = views.means_table(explained)
    write_whole(out, table_bytes(out, views.rows_table(explained)))
    write_whole(out.with_stem(f"{out.stem}-means"), table_bytes(out, means))
    log.unlink()
    return means


def _write_lines(path: Path, values: Iterable[Mapping[str, Any]]) -> None:
    """Write a JSON line for each value."""
    text = "".join(json.dumps(plain_data(value), allow_nan=False) + "\n" for value in values)
    write_whole(path, text.encode())


def _task_tables(scores: Scores) -> list[Table]:
    """Return the metrics, and the breakdown if there is one."""
    table = metrics_table({"loss": scores.loss, **scores.metrics}, scores.intervals)
    table.title = plain(counted(scores.num_examples, "example"))
    tables = [table]
    if scores.by_type:
        types = [{"type": name, **numbers} for name, numbers in scores.by_type.items()]
        tables.append(tabulate(types))
    if (breakdown := scores.breakdown) is None:
        return tables
    error, largest = breakdown.expected_calibration_error, breakdown.largest_calibration_error
    title = f"Calibration: expected error {error:.4f}, largest {largest:.4f}"
    labels = sorted(breakdown.by_label, key=lambda label: label.mean)
    worst = f", the worst {MOST_GROUPS}" if len(labels) > MOST_GROUPS else ""
    return [
        *tables,
        tabulate(breakdown.calibration, title=title),
        tabulate(breakdown.by_length, title="Right by length"),
        tabulate(labels, title=f"Right by true label{worst}", most=MOST_GROUPS),
    ]
