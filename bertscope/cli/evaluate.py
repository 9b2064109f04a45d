"""`bertscope evaluate`: score a checkpoint on held-out text or on labelled examples."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from bertcore.base.json_data import plain_data
from bertcore.configs import Columns
from bertscope.cli.files import write_whole
from bertscope.cli.finetune import metrics_table
from bertscope.cli.options import (
    chosen,
    config_options,
    field_names,
    refuse_options,
)
from bertscope.cli.output import counted, make_table, plain, print_json, print_table, tabulate
from bertscope.cli.progress import OnStage, stages
from bertscope.cli.text import AsJson

if TYPE_CHECKING:
    from rich.table import Table

    from bertcore.bert import Bert
    from bertcore.configs import DataConfig
    from bertcore.evaluation.breakdown import Breakdown
    from bertcore.evaluation.metrics import Scores
    from bertcore.grammar import GroupAccuracy
    from bertcore.model import Model
    from bertcore.pretraining import Batch, CausalScores, PackedCorpus, PretrainingScores

MASKED_WORDS = "mlm"
"""The task of held-out text for a checkpoint that fills in masks."""
NEXT_TOKENS = "causal"
"""The task of held-out text for a checkpoint that predicts the next token."""
MINIMAL_PAIRS = "minimal-pairs"
"""The task of pairs of a good and a bad sentence."""
MOST_GROUPS = 80
"""Maximum number of groups of minimal pairs that are printed, the worst ones; JSON has all."""
MOST_LABELS = 20
"""Maximum number of labels whose accuracy is printed, the worst ones; JSON has all."""


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

    def __post_init__(self) -> None:
        path = self.predictions
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise ValueError(
                f"--predictions is {str(path)!r}, which is a folder or is not in an existing one. "
                "Give the name of a file."
            )


@config_options(
    (Subject, "checkpoint allow_pickle max_seq_length rows skip_bad_rows predictions"),
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
    """
    from bertcore.tasks import TASKS

    subject = Subject(**chosen(Subject, settings))
    is_text, columns = task in (MASKED_WORDS, NEXT_TOKENS), field_names(Columns)
    if not is_text and task != MINIMAL_PAIRS and task not in TASKS:
        names = ", ".join((MASKED_WORDS, NEXT_TOKENS, MINIMAL_PAIRS, *TASKS))
        raise ValueError(f"--task is {task!r}; this version scores {names}.")
    if task not in TASKS:
        refuse_options(context, columns, "it is for fine-tuned checkpoints")
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
    from bertcore.grammar import BUNDLED, accuracies, read_pairs, score_pairs

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
    results = accuracies(scores, file.columns)
    everything, *groups = [asdict(group) | {"accuracy": group.accuracy} for group in results]
    tables = [
        pairs_table([group for group in results if group.column == column])
        for column in ("", *file.columns)
    ]
    return Outcome({"all": everything, "groups": groups}, tables, notes)


def pairs_table(groups: Sequence[GroupAccuracy]) -> Table:
    """Return the accuracies of the groups of a column; of many, the worst MOST_GROUPS."""
    column, title = groups[0].column, ""
    if not column:
        title = "Minimal pairs: the good sentence is the more probable one (chance: 50%)"
    elif len(groups) > MOST_GROUPS:
        groups = sorted(groups, key=lambda group: group.accuracy)[:MOST_GROUPS]
        title = f"the worst {MOST_GROUPS} groups"
    columns = {
        column or "pairs": "{0.group}",
        "right": "{0.num_right:,}",
        "of": "{0.num_pairs:,}",
        "accuracy": "{0.accuracy:.1%}",
        "95% interval": "{0.low:.1%} to {0.high:.1%}",
        "ties": "{0.num_ties:,}",
    }
    return tabulate(groups, columns, title=title)


def score_masked_words(data: Path, subject: Subject, on_stage: OnStage) -> Outcome:
    """Score a checkpoint's masked words and next sentences on held-out text.

    ValueError if the checkpoint lacks what the objective needs, or the text cannot be used.
    """
    from bertcore.pretraining import (
        DataConfig,
        evaluate_pretraining,
        fixed_batches,
        pack_corpus,
        read_sentences,
    )
    from bertcore.pretraining.run import HELD_OUT_SEED

    on_stage("reading the text", None)
    next(read_sentences([data]), None)  # before the checkpoint is opened
    bert = _with_berts_masks(_open(subject))
    length = _text_length(subject, bert.config.max_length)
    can_pair = "nsp" in bert.capabilities and bert.config.type_vocab_size >= 2
    config = DataConfig.for_length(length, objective="mlm+nsp" if can_pair else "mlm")
    corpus = pack_corpus(read_sentences([data]), bert.tokenizer)
    config, notes = _rows_of(corpus, config)
    batches = list(
        fixed_batches(corpus, bert.tokenizer, config, seed=HELD_OUT_SEED, num_rows=subject.rows)
    )

    def reported() -> Iterator[Batch]:
        for number, batch in enumerate(batches):
            on_stage("scoring", number / len(batches))
            yield batch

    scores = evaluate_pretraining(bert.module, reported(), bert.tokenizer)
    values = {"objective": config.objective, "max_seq_length": length, **scores.to_dict()}
    return Outcome(values, [scores_table(scores)], notes)


def _text_length(subject: Subject, limit: int) -> int:
    """Return the longest row of text in tokens; ValueError if the checkpoint does not take it."""
    length = min(128, limit) if subject.max_seq_length is None else subject.max_seq_length
    if not 3 <= length <= limit:
        raise ValueError(
            f"--max-seq-length is {length}; this checkpoint takes 3 to {limit} tokens."
        )
    return length


def _with_berts_masks(model: Model) -> Bert:
    """Return a model that is scored on BERT's masks.

    ValueError if it is of another kind; the message names the task that scores it.
    """
    from bertcore.bert import with_parts

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


def _rows_of(corpus: PackedCorpus, config: DataConfig) -> tuple[DataConfig, list[str]]:
    """Return the settings of the rows that a text allows, and notes on them.

    Args:
        corpus: The held-out text; one without pairs gives packed rows.
        config: The rows that the checkpoint's heads allow.

    ValueError if the text has no sentence.
    """
    from bertcore.pretraining import DataConfig
    from bertcore.pretraining.data.corpus import check_counts, note_on_halves

    if config.has_pairs and corpus.most_sentences < 2:
        packed = DataConfig.for_length(config.max_seq_length, objective="mlm")
        return packed, [
            "no document of the text has two sentences, so there are no pairs: masked words alone "
            "are scored, on packed rows."
        ]
    check_counts("valid", corpus.num_documents, corpus.most_sentences, rows=config.rows)
    note = note_on_halves(corpus, config.rows)
    return config, [] if note is None else [note]


def score_next_tokens(data: Path, subject: Subject, on_stage: OnStage) -> Outcome:
    """Score a causal checkpoint on held-out text.

    ValueError if the checkpoint does not predict next tokens, or the text cannot be used.
    """
    from bertcore.pretraining import causal_rows, evaluate_next_tokens, read_documents
    from bertcore.pretraining.run import HELD_OUT_SEED

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
    return Outcome({"max_seq_length": length, **scores.to_dict()}, [causal_table(scores)], [])


def causal_table(scores: CausalScores) -> Table:
    """Return scores of next tokens as a table of three columns: measure, value and note."""
    rows = [
        ("next-token loss", f"{scores.loss:.3f}", "nats"),
        ("perplexity", f"{scores.perplexity:,.1f}", "e to the loss, per token"),
        ("bits per character", f"{scores.bits_per_character:.3f}", "of all tokens"),
        ("next-token top-1", f"{scores.top1:.1%}", "the most probable token is the right one"),
    ]
    if scores.num_unknown:
        share = f"{scores.num_unknown / scores.num_tokens:.1%}"
        rows.append(("unknown tokens", share, "[UNK]: counted in the loss, never as right"))
    title = f"{counted(scores.num_rows, 'row')} of text, {counted(scores.num_tokens, 'token')}"
    return make_table("measure", "value", "note", right=("value",), title=title, rows=rows)


def scores_table(scores: PretrainingScores) -> Table:
    """Return held-out scores as a table of three columns: measure, value and note."""
    perplexity = math.exp(min(scores.mlm_loss, 700.0))
    rows = [
        ("masked-word loss", f"{scores.mlm_loss:.3f}", f"nats; perplexity {perplexity:,.1f}"),
        ("masked-word top-1", f"{scores.mlm_top1:.1%}", "the most probable word is the right one"),
    ]
    of, caption = f"{counted(scores.num_rows, 'row')} of packed text", None
    if scores.share_random is not None and scores.num_pairs and scores.nsp_accuracy is not None:
        of, accuracy = counted(scores.num_pairs, "pair"), scores.nsp_accuracy
        chance = max(scores.share_random, 1 - scores.share_random)
        same = f"always the same answer: {chance:.1%}"
        rows += [
            ("next-sentence loss", f"{scores.nsp_loss:.3f}", "nats; 0.693 is guessing"),
            ("next-sentence accuracy", f"{accuracy:.1%}", same),
        ]
        if accuracy < chance + 2 * math.sqrt(chance * (1 - chance) / scores.num_pairs):
            caption = (
                "Next sentence is near guessing. On text of one book or one topic that is usual: a "
                "random B has the topic of A, too."
            )
    rows.append(("bits per character", f"{scores.bits_per_character:.3f}", "of the hidden tokens"))
    if scores.num_unknown:
        share = f"{scores.num_unknown / scores.num_masked:.1%}"
        rows.append(("unknown tokens", share, "[UNK]: predicting [UNK] counts as right there"))
    title = f"{of}, {counted(scores.num_masked, 'hidden token')}"
    table = make_table("measure", "value", "note", right=("value",), title=title, rows=rows)
    table.caption, table.caption_justify = caption, "left"
    return table


def score_task(
    task: str, data: Path, subject: Subject, columns: Columns, on_stage: OnStage
) -> Outcome:
    """Score a fine-tuned checkpoint on a labelled file, or a data set of the hub.

    ValueError if the checkpoint is for another task or the data cannot be used.
    """
    from bertcore.tasks import open_task_model, read_task_data, score_model

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
    with _local_file(data, model.task.name) as path:
        examples = read_task_data(
            path,
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
    return Outcome({"max_seq_length": length, **asdict(scores)}, _task_tables(scores), notes)


def _write_lines(path: Path, values: Iterable[Mapping[str, Any]]) -> None:
    """Write a JSON line for each value."""
    text = "".join(json.dumps(plain_data(value), allow_nan=False) + "\n" for value in values)
    write_whole(path, lambda file: file.write(text.encode()))


@contextmanager
def _local_file(data: Path, task: str) -> Iterator[Path]:
    """Yield a labelled file; a data set of the hub is fetched for as long as it is needed."""
    from bertcore.finetuning.data.hub_data import fetch_hub_data, is_hub_name

    if not is_hub_name(str(data)):
        yield data
        return
    with tempfile.TemporaryDirectory() as fetched:
        yield fetch_hub_data(str(data), Path(fetched), task=task, is_train=False)


def _task_tables(scores: Scores) -> list[Table]:
    """Return the metrics, and the breakdown if there is one."""
    table = metrics_table({"loss": scores.loss, **scores.metrics}, scores.intervals)
    table.title = plain(counted(scores.num_examples, "example"))
    tables = [table]
    if scores.by_type:
        forms = {name: f"{{0[{name.lower()}]:.4f}}" for name in ("precision", "recall", "F1")}
        types = [{"name": name, **numbers} for name, numbers in scores.by_type.items()]
        columns = {"type": "{0[name]}", **forms, "number": "{0[number]:,}"}
        tables.append(tabulate(types, columns))
    return [*tables, *(() if scores.breakdown is None else breakdown_tables(scores.breakdown))]


def breakdown_tables(breakdown: Breakdown) -> tuple[Table, Table, Table]:
    """Return the reliability of the confidences, and the accuracy by length and by label."""
    interval = {"95% interval": "{0.low:.4f} to {0.high:.4f}"}
    title = (
        f"calibration: expected error {breakdown.expected_calibration_error:.4f}, largest "
        f"{breakdown.largest_calibration_error:.4f}"
    )
    reliability = {
        "confidence": "{0.above:.1f} to {0.up_to:.1f}",
        "answers": "{0.number:,}",
        "mean": "{0.confidence:.4f}",
        "right": "{0.accuracy:.4f}",
        **interval,
    }
    slices = {"answers": "{0.number:,}", "right": "{0.mean:.4f}", **interval}
    labels, which = breakdown.by_label, ""
    if len(labels) > MOST_LABELS:
        which = f" (the worst {MOST_LABELS} of {len(labels):,})"
        labels = tuple(sorted(labels, key=lambda label: label.mean)[:MOST_LABELS])
    return (
        tabulate(breakdown.calibration, reliability, title=title),
        tabulate(breakdown.by_length, {"length": "{0.name}", **slices}, title="by length"),
        tabulate(labels, {"label": "{0.name}", **slices}, title=f"by true label{which}"),
    )
