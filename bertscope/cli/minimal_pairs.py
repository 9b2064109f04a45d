"""`bertscope evaluate --task minimal-pairs`: the grammar exam of a checkpoint."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bertscope.cli.output import make_table, plain, print_json, print_table
from bertscope.cli.progress import OnStage, stages

if TYPE_CHECKING:
    from rich.table import Table

    from bertcore.data.files import BadRows
    from bertcore.grammar import GroupAccuracy, PairFile, PairScore, TokenCounts
    from bertcore.model import Model

MINIMAL_PAIRS = "minimal-pairs"
MOST_GROUPS = 80
"""Maximum number of groups of a column that are printed, the worst ones; JSON has all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MinimalPairOptions:
    scoring: str = "within-word"
    """within-word: hide a piece and those after it in its word; single: hide one piece at a time,
    as in most published tables; the other pieces of a rare word then give it away. Not for causal
    checkpoints."""
    good: str | None = None
    """Column of the good sentence; default: sentence_good, good, ..."""
    bad: str | None = None
    """Column of the bad sentence; default: sentence_bad, bad, ..."""
    groups: str | None = None
    """Columns that group the pairs, separated by commas; default: all that do."""
    by_layer: bool = field(default=False, metadata={"flag": "--by-layer"})
    """Also score with every layer's states, read through the masked-word head."""
    counts_from: Path | None = None
    """Text whose word frequencies are the baseline; default: the checkpoint's token_counts.txt."""
    resume: bool = False
    """Continue a stopped exam with the scores in the file of --predictions."""

    def __post_init__(self) -> None:
        from bertcore.grammar.log_likelihood import SCORINGS

        if self.scoring not in SCORINGS:
            raise ValueError(f"--scoring is {self.scoring!r}; expected {' or '.join(SCORINGS)}.")


def evaluate_minimal_pairs(
    data: Path | None,
    checkpoint: str,
    options: MinimalPairOptions,
    *,
    device: str,
    dtype: str,
    predictions: Path | None,
    skip_bad_rows: bool,
    as_json: bool,
    scoring_is_typed: bool = False,
) -> None:
    """Score the minimal pairs of a file and print the accuracy by group.

    Args:
        data: A table or JSON lines; None takes our own 200 pairs.
        checkpoint, device, dtype: As for `load`.
        options: As typed.
        predictions: Gets a JSON line for each pair, as the exam goes.
        skip_bad_rows: Leave out pairs that cannot be scored.
        as_json: Print JSON.
        scoring_is_typed: Whether `options.scoring` was typed; a causal checkpoint rejects it.

    ValueError if the checkpoint has neither a masked-word head nor a next-token head, or the file
    cannot be used.
    """
    from bertcore import load
    from bertcore.data.files import BadRows
    from bertcore.grammar import BUNDLED, accuracies, read_pairs, reads_from_left

    if options.resume and predictions is None:
        raise ValueError("--resume continues the file of --predictions, which is not given.")
    bad_rows = BadRows(skip=skip_bad_rows)
    with stages() as on_stage:
        on_stage("reading the pairs", None)
        groups = None if options.groups is None else _names(options.groups)
        path = BUNDLED if data is None else data
        file = read_pairs(
            path, good=options.good, bad=options.bad, groups=groups, bad_rows=bad_rows
        )
        on_stage("opening the checkpoint", None)
        bert = load(checkpoint, device=device, dtype=dtype)
        is_causal = reads_from_left(bert)
        if options.by_layer or not is_causal:
            bert.require("lens" if options.by_layer else "mlm")
        if is_causal and scoring_is_typed:
            raise ValueError(
                "--scoring would have no effect: a causal checkpoint scores each piece from those "
                "before it. Leave it out."
            )
        scoring = "left-to-right" if is_causal else options.scoring
        counts = _counts(bert, options.counts_from, on_stage)
        about = {
            "scoring": scoring,
            "by_layer": options.by_layer,
            "checkpoint": bert.report.fingerprint if bert.report else "",
            "dtype": str(bert.dtype).removeprefix("torch."),
        }
        scores = _take(bert, file, path, options, counts, bad_rows, predictions, about, on_stage)
    told = (*file.notes, *bad_rows.notes(), _unknown_note(scores), _tie_note(scores))
    notes = [note for note in told if note]
    results = accuracies(scores, file.columns)
    if as_json:
        print_json(
            {
                "task": MINIMAL_PAIRS,
                "checkpoint": checkpoint,
                "data": str(path) if data is not None else "our own pairs",
                "scoring": scoring,
                "all": _as_data(results[0]),
                "groups": [_as_data(result) for result in results[1:]],
                **(_layers(scores, file) if options.by_layer else {}),
                "notes": notes,
            }
        )
        return
    for table in exam_tables(results, file.columns):
        print_table(table)
    if options.by_layer:
        print_table(layer_table(scores, file.columns))
    for note in notes:
        typer.echo(f"Note: {note}")


def exam_tables(results: list[GroupAccuracy], columns: tuple[str, ...]) -> list[Table]:
    """Return a table of accuracies for all pairs and for each grouping column."""
    tables = []
    has_baseline = results[0].frequency_right is not None
    for column in ("", *columns):
        rows = [result for result in results if result.column == column]
        names = [column or "pairs", "right", "of", "accuracy", "95% interval", "ties"]
        if has_baseline:
            names += ["word frequency", "its ties"]
        table = make_table(*names, right=tuple(name for name in names[1:] if name != names[4]))
        if not column:
            table.title = "Minimal pairs: the good sentence is the more probable one (chance: 50%)"
        elif len(rows) > MOST_GROUPS:
            rows = sorted(rows, key=lambda row: row.accuracy)[:MOST_GROUPS]
            table.title = f"the worst {MOST_GROUPS} groups"
        for row in rows:
            cells = [
                row.group,
                f"{row.num_right:,}",
                f"{row.num_pairs:,}",
                f"{row.accuracy:.1%}",
                f"{row.low:.1%} to {row.high:.1%}",
                f"{row.num_ties:,}",
            ]
            if has_baseline:
                cells += [f"{row.frequency_accuracy:.1%}", f"{row.frequency_ties:,}"]
            table.add_row(*map(plain, cells))
        tables.append(table)
    return tables


def layer_table(scores: list[PairScore], columns: tuple[str, ...]) -> Table:
    """Return the accuracy of each group of the coarsest column at every layer."""
    from bertcore.grammar import accuracies

    num_states = len(scores[0].good)
    shown = columns[:1]
    by_state = [accuracies(scores, shown, state=state) for state in range(num_states)]
    heads = ["embeddings", *(str(layer) for layer in range(1, num_states))]
    table = make_table("by layer", *heads, right=tuple(heads))
    for rows in zip(*by_state, strict=True):
        table.add_row(plain(rows[0].group), *(f"{row.accuracy:.1%}" for row in rows))
    return table


def _take(
    bert: Model,
    file: PairFile,
    path: Path,
    options: MinimalPairOptions,
    counts: TokenCounts | None,
    bad_rows: BadRows,
    predictions: Path | None,
    about: dict[str, Any],
    on_stage: OnStage,
) -> list[PairScore]:
    """Score the pairs; scores that were already written are reused."""
    from bertcore.grammar import ScoreFile, file_fingerprint, score_pairs

    written, scores = None, []
    if predictions is not None:
        about = {
            **about,
            "data": file_fingerprint(path),
            "columns": list(file.sentence_columns),
            "frequency": None if counts is None else counts.fingerprint,
        }
        written = ScoreFile(predictions, about)
        if options.resume:
            scores = written.read(file.pairs)
        else:
            written.create()
    known = {score.pair.row for score in scores}
    left = [pair for pair in file.pairs if pair.row not in known]
    if known:
        on_stage(f"{len(known):,} pairs were already scored", None)
    for part in score_pairs(
        bert,
        left,
        scoring=options.scoring,  # type: ignore[arg-type]  # checked by the options
        by_layer=options.by_layer,
        counts=counts,
        bad_rows=bad_rows,
        progress=lambda fraction: on_stage(f"scoring {len(left):,} pairs", fraction),
    ):
        scores += part
        if written is not None:
            written.append(part)
    if not scores:
        raise ValueError(f"no pair of {str(path)!r} can be scored. {bad_rows.first}")
    return sorted(scores, key=lambda score: score.pair.row)


def _counts(bert: Model, texts: Path | None, on_stage: OnStage) -> TokenCounts | None:
    from bertcore.grammar import TokenCounts
    from bertcore.pretraining import read_sentences

    if texts is not None:
        on_stage("counting words", None)
        documents = read_sentences([texts])
        sentences = itertools.chain.from_iterable(documents)
        first = next(sentences, None)
        if first is None:
            raise ValueError(
                f"--counts-from {str(texts)!r} has no text. Give a file with sentences in it."
            )
        return TokenCounts.of_texts(itertools.chain([first], sentences), bert.tokenizer)
    return TokenCounts.of_checkpoint(bert)


def _names(text: str) -> list[str]:
    """Return the names in a comma-separated list."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise ValueError(
            f"--groups is {text!r}; expected column names separated by commas, such as "
            "field,phenomenon. Leave it out for all that group pairs."
        )
    return names


def _tie_note(scores: list[PairScore]) -> str | None:
    """Return a note on pairs whose sentences differ but have the same score."""
    tied = [
        score.pair for score in scores if not score.margin() and score.pair.good != score.pair.bad
    ]
    if not tied:
        return None
    some = "1 pair is a tie" if len(tied) == 1 else f"{len(tied):,} pairs are ties"
    return (
        f"{some}, counted as wrong, though the sentences differ (row {tied[0].row:,}): in this "
        "vocabulary they may be the same pieces, for example if only upper case differs."
    )


def _unknown_note(scores: list[PairScore]) -> str | None:
    number = sum(score.num_unknown > 0 for score in scores)
    if not number:
        return None
    return f"{number:,} of {len(scores):,} pairs contain a word that the vocabulary does not have."


def _layers(scores: list[PairScore], file: PairFile) -> dict[str, Any]:
    from bertcore.grammar import accuracies

    states = range(len(scores[0].good))
    return {
        "layers": [
            [_as_data(result) for result in accuracies(scores, file.columns, state=state)]
            for state in states
        ]
    }


def _as_data(result: GroupAccuracy) -> dict[str, Any]:
    return {
        **asdict(result),
        "accuracy": result.accuracy,
        "frequency_accuracy": result.frequency_accuracy,
    }
