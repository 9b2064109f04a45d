"""`bertscope compare`: what changed between two checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bertscope.cli.compare.tables import (
    print_answers,
    print_heads,
    print_texts,
    print_weights,
    to_record,
)
from bertscope.cli.compare.trade_off import compare_at_text, compare_on_file
from bertscope.cli.files import read_whole
from bertscope.cli.options import documented
from bertscope.cli.output import print_json
from bertscope.cli.progress import stages
from bertscope.cli.text import AsJson, Device, Dtype

if TYPE_CHECKING:
    from bertcore import Model
    from bertcore.analysis.compare.checkpoints import Question, TextComparison
    from bertcore.data.texts_file import Sentence


@documented
def compare(
    first: Annotated[str, typer.Argument()],
    second: Annotated[str, typer.Argument()],
    text: str | None = None,
    pair: str | None = None,
    speed: bool = False,
    task: str | None = None,
    data: Path | None = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    as_json: AsJson = False,
) -> None:
    """Show what changed from one checkpoint to another, for example through fine-tuning.

    Prints how far the weights moved, how similar the layers' representations still are (CKA),
    which heads attend elsewhere, and what each checkpoint answers.

    Args:
        first: 'default', a folder, or a hub id.
        second: The same, or 'untrained': random weights.
        text: A text, or a file with one text per line (.txt), a table (.csv, .tsv) or trees
            (.conllu), also .gz or .xz; default: our sixty sentences.
        pair: Text B, if --text is a text.
        speed: Compare size and speed on this machine instead of what changed: at the length of
            --text, or for two fine-tuned checkpoints on --data, with their scores and a paired
            test.
        task: With --speed: as for evaluate; default: from config.json.
        data: With --speed: a labelled file, as for evaluate.

    \b
    Examples:
      bertscope compare default sst2
      bertscope compare default sst2 --text "A film that nobody will forget."
      bertscope compare default sst2 --text dev.tsv --json
      bertscope compare runs/mine/checkpoints/step-500 runs/mine/checkpoints/step-4000
      bertscope compare sst2 sst2-small --speed --data dev.tsv
      bertscope compare default base --speed --text "A film that nobody will forget."
    """
    if speed:
        _compare_speed(
            (first, second), (text, pair), task, data, device=device, dtype=dtype, as_json=as_json
        )
        return
    if task is not None or data is not None:
        raise ValueError("--task and --data go with --speed. Add it, or leave them out.")
    from bertcore import load
    from bertcore.analysis.compare.checkpoints import limits, questions
    from bertcore.analysis.compare.decision import Decisions, open_decisions, pretraining_decisions
    from bertcore.analysis.compare.weight_drift import weight_drift
    from bertcore.loading.untrained import untrained

    texts = _read(text, pair)
    if first == "untrained":
        raise ValueError(
            "'untrained' stands for random weights in the shape of the first checkpoint, so it can "
            "only be the second one. Swap the two."
        )
    with stages() as on_stage:
        on_stage("opening", 0.0)
        one = load(first, device=device, dtype=dtype)
        two = untrained(one) if second == "untrained" else load(second, device=device, dtype=dtype)
        decisions = (
            open_decisions(one, first),
            Decisions(pretraining_decisions(two), "an untrained network has no task head.")
            if second == "untrained"
            else open_decisions(two, second),
        )
        all_questions = questions(one, two, decisions)
        on_stage("comparing weights", 0.0)
        drift = weight_drift(one, two)
        many, single = None, None
        if isinstance(texts, tuple):
            single = _compare_one(one, two, texts, all_questions)
        else:
            from bertcore.analysis.compare.texts import compare_texts

            many = compare_texts(
                one, two, texts, all_questions, progress=lambda s, w: on_stage(w, s)
            )
    limitations = limits(one, two)
    if as_json:
        print_json(to_record((first, second), limitations, drift, single, many))
        return
    for sentence in limitations:
        typer.echo(sentence)
    print_weights(drift)
    if single is not None:
        print_answers(single, (first, second))
        print_heads(single.divergence)
    if many is not None:
        print_texts(many, (first, second))
        print_heads(many.divergence)


def _compare_speed(
    names: tuple[str, str],
    texts: tuple[str | None, str | None],
    task: str | None,
    data: Path | None,
    *,
    device: str,
    dtype: str,
    as_json: bool,
) -> None:
    """Compare size and speed at a text or on a labelled file.

    ValueError if there is neither, or both.
    """
    text, pair = texts
    if data is not None:
        if text is not None or pair is not None:
            raise ValueError("--speed takes --data or --text, not both. Leave one out.")
        compare_on_file(*names, task, data, device=device, dtype=dtype, as_json=as_json)
        return
    if text is None or not text.strip():
        raise ValueError(
            "--speed needs texts to measure on. Give --data FILE to score two fine-tuned "
            "checkpoints too, or one --text."
        )
    if task is not None:
        raise ValueError("--task goes with --data. Add it, or leave --task out.")
    compare_at_text(*names, text, pair, device=device, dtype=dtype, as_json=as_json)


def _read(text: str | None, pair: str | None) -> tuple[str, str | None] | list[Sentence]:
    """Return a text and its text B, or the sentences of a file.

    ValueError if --pair comes without a text, or the file cannot be read.
    """
    from bertcore.analysis.heads.texts import bundled_sentences, read_texts

    if text is None:
        if pair is not None:
            raise ValueError("--pair is given without --text. Give text A with --text.")
        return list(bundled_sentences().sentences)
    if not text.strip():
        raise ValueError("--text is empty. Give a text, or the name of a file.")
    if not _is_file(text):
        return text, pair
    if pair is not None:
        raise ValueError(
            f"--pair goes with one text, but --text {text!r} is a file. Write pairs in the file "
            "with ||| between their texts."
        )
    data, name = read_whole(Path(text))
    return list(read_texts(data, name).sentences)


def _is_file(text: str) -> bool:
    """Return whether a text names a file; one that only looks like a missing file is an error.

    ValueError if it ends as files do but there is none.
    """
    endings = (".txt", ".csv", ".tsv", ".conllu", ".gz", ".xz")
    try:
        if Path(text).expanduser().is_file():
            return True
    except (OSError, ValueError):  # too long for a name, or with a null character: a text
        return False
    if " " not in text.strip() and text.lower().endswith(endings):
        raise ValueError(f"there is no file {text!r}. Check the path, or give a text.")
    return False


def _compare_one(
    one: Model, two: Model, texts: tuple[str, str | None], all_questions: tuple[Question, ...]
) -> TextComparison:
    from bertcore.analysis.compare.checkpoints import compare_text, with_mask_of

    text, pair = texts
    first, second = (
        bert.trace(with_mask_of(bert, text), None if pair is None else with_mask_of(bert, pair))
        for bert in (one, two)
    )
    return compare_text(one, two, (first, second), all_questions)
