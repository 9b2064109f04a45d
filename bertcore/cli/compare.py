"""`bertscope compare`: what changed between two checkpoints.

Heavy libraries are imported inside the command, so that `bertscope --help` answers at once.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bertcore.cli.files import read_whole
from bertcore.cli.output import make_table, plain, print_json, print_table
from bertcore.cli.progress import stages
from bertcore.cli.text import AsJson, Device, Dtype

if TYPE_CHECKING:
    from bertcore import Bert
    from bertcore.analysis.collect import Sentence
    from bertcore.analysis.compare import Question, TextComparison
    from bertcore.analysis.compare_texts import TextsComparison
    from bertcore.analysis.weight_drift import WeightDrift

MOST = 8
"""Rows of a table of what changed most."""


def register(app: typer.Typer) -> None:
    """Add the commands of this file to the command line."""
    app.command("compare")(compare)


def compare(
    first: Annotated[str, typer.Argument(help="'default', a folder, or a hub id.")],
    second: Annotated[str, typer.Argument(help="The same; 'untrained': random weights.")],
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            help="A text, or a file with one a line (.txt), a table (.csv, .tsv) or trees "
            "(.conllu), also packed; default: our sixty sentences.",
        ),
    ] = None,
    pair: Annotated[
        str | None, typer.Option("--pair", help="Text B, where --text is a text.")
    ] = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    as_json: AsJson = False,
) -> None:
    """Show what changed from one checkpoint to another, such as by fine-tuning.

    How far the weights moved, which layers still place tokens alike (CKA), which heads look
    elsewhere, and what both answer.

    \b
    Examples:
      bertscope compare default sst2
      bertscope compare default sst2 --text "A film that nobody will forget."
      bertscope compare default sst2 --text dev.tsv --json
      bertscope compare runs/mine/checkpoints/step-500 runs/mine/checkpoints/step-4000
    """
    from bertcore import load
    from bertcore.analysis.compare import limits, questions
    from bertcore.analysis.decision import Decisions, open_decisions, pretraining_decisions
    from bertcore.analysis.untrained import untrained
    from bertcore.analysis.weight_drift import weight_drift

    texts = _read(text, pair)
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
        asked = questions(one, two, decisions)
        on_stage("comparing weights", 0.0)
        drift = weight_drift(one, two)
        many, single = None, None
        if isinstance(texts, tuple):
            single = _compare_one(one, two, texts, asked)
        else:
            from bertcore.analysis.compare_texts import compare_texts

            many = compare_texts(one, two, texts, asked, progress=lambda s, w: on_stage(w, s))
    said = limits(one, two)
    if as_json:
        print_json(_as_json((first, second), said, drift, single, many))
        return
    for sentence in said:
        typer.echo(sentence)
    _print_weights(drift)
    if single is not None:
        _print_answers(single, (first, second))
        _print_heads(single.divergence)
    if many is not None:
        _print_texts(many, (first, second))
        _print_heads(many.divergence)


def _read(text: str | None, pair: str | None) -> tuple[str, str | None] | list[Sentence]:
    """Return a text and its text B, or the sentences of a file.

    Raises:
        ValueError: If --pair comes without a text, or the file cannot be read.
    """
    from bertcore.analysis.head_texts import bundled_sentences, read_texts

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

    Raises:
        ValueError: If it ends as files do but there is none.
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
    one: Bert, two: Bert, texts: tuple[str, str | None], asked: tuple[Question, ...]
) -> TextComparison:
    from bertcore.analysis.compare import compare_text, with_mask_of

    text, pair = texts
    first, second = (
        bert.trace(with_mask_of(bert, text), None if pair is None else with_mask_of(bert, pair))
        for bert in (one, two)
    )
    return compare_text(one, two, (first, second), asked)


def _print_weights(drift: WeightDrift) -> None:
    if drift.is_same:
        typer.echo("The weights are the same: every difference is zero.")
        return
    parts = [((None, part), d) for part, d in drift.others.items()]
    parts += list(drift.layers.items())  # type: ignore[arg-type]
    largest = sorted(parts, key=lambda entry: -_or_zero(entry[1].relative))[:MOST]
    table = make_table("part", "moved by", "1 - cosine", right=("moved by", "1 - cosine"))
    table.title, table.title_justify = "weights that moved most", "left"
    for (layer, part), d in largest:
        name = part if layer is None else f"layer {layer}: {part}"
        table.add_row(name, f"{100 * d.relative:.3g}%", f"{1 - d.cosine:.3g}")
    print_table(table)
    for what, names in (
        ("only in the first", drift.only_first),
        ("only in the second", drift.only_second),
    ):
        if names:
            typer.echo(f"{what}: {len(names)} tensors, such as {names[0]}")
    if drift.mis_shaped:
        typer.echo(f"of other shapes and not compared: {len(drift.mis_shaped)} tensors")
    if drift.not_finite:
        typer.echo(f"NaN or infinity in: {', '.join(drift.not_finite[:5])}")


def _print_answers(found: TextComparison, names: tuple[str, str]) -> None:
    from bertcore.analysis.decision import KINDS

    columns = ("question", "checkpoint", "answer", "p", "settled at layer")
    table = make_table(*columns, right=("p", "settled at layer"))
    for question, *sides in found.answers:
        for number, side in enumerate(sides):
            if side is None:
                table.add_row(KINDS[question.kind], plain(names[number]), "has no answer", "", "")
                continue
            borrowed = " (head of the other)" if question.borrower == number else ""
            for place in range(min(len(side.places), MOST)):
                settled = side.settled[place]
                value = float(side.of_final()[-1, place])
                table.add_row(
                    KINDS[question.kind],
                    plain(names[number] + borrowed),
                    plain(side.final[place]),
                    f"{value:.4g}",
                    "" if settled is None else str(settled),
                )
    print_table(table)


def _print_texts(found: TextsComparison, names: tuple[str, str]) -> None:
    import numpy as np

    similarity = found.similarity
    table = make_table("layer", "CKA", "debiased", right=("layer", "CKA", "debiased"))
    what = "tokens" if found.are_tokens else "words"
    table.title, table.title_justify = f"CKA over {similarity.num_examples:,} {what}", "left"
    for layer, (p, d) in enumerate(
        zip(np.diagonal(similarity.plain), np.diagonal(similarity.debiased), strict=True)
    ):
        table.add_row(str(layer), f"{p:.3f}", f"{d:.3f}")
    print_table(table)
    if similarity.num_examples < 2 * similarity.width:
        typer.echo(
            f"{similarity.num_examples:,} {what} are few for vectors of {similarity.width} "
            "numbers: trust the debiased column."
        )
    compared = [a for a in found.answers if a.kind != "score" and all(a.answers)]
    if compared:
        changed = sum(answer.is_changed for answer in compared)
        typer.echo(f"{changed:,} of {len(compared):,} answers differ.")
        most = sorted(compared, key=lambda a: -_or_zero(a.distance))[:MOST]
        table = make_table("text", names[0], names[1], "distance", right=("distance",))
        for answer in most:
            text = answer.sentence.text
            table.add_row(
                plain(text if len(text) <= 60 else text[:59] + "…"),
                *(
                    plain(f"{a} {100 * p:.0f}%")
                    for a, p in zip(answer.answers, answer.probabilities, strict=True)
                ),
                f"{answer.distance:.3f}",
            )
        print_table(table)


def _print_heads(divergence: Any) -> None:
    if divergence is None:
        return
    num_heads = divergence.shape[1]
    order = sorted(range(divergence.size), key=lambda n: -_or_zero(divergence.flat[n]))[:MOST]
    table = make_table("head", "bits", right=("bits",))
    table.title, table.title_justify = "heads that look most differently", "left"
    for place in order:
        table.add_row(f"{place // num_heads}.{place % num_heads}", f"{divergence.flat[place]:.3f}")
    print_table(table)


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else float(value)


def _as_json(
    names: tuple[str, str],
    said: list[str],
    drift: WeightDrift,
    single: TextComparison | None,
    many: TextsComparison | None,
) -> dict[str, object]:
    found: dict[str, object] = {
        "first": names[0],
        "second": names[1],
        "cannot_be_compared": said,
        "weights": {
            "same": drift.is_same,
            "tensors": [
                {
                    "name": t.name,
                    "part": t.part,
                    "layer": t.layer,
                    "relative_change": _number(t.drift.relative),
                    "cosine": _number(t.drift.cosine),
                    "rows": t.rows or None,
                }
                for t in drift.tensors
            ],
            "only_first": list(drift.only_first),
            "only_second": list(drift.only_second),
            "other_shapes": sorted(drift.mis_shaped),
            "not_finite": list(drift.not_finite),
        },
    }
    if single is not None:
        found["answers"] = [
            {
                "question": question.kind,
                "head_of_the_other": None
                if question.borrower is None
                else names[question.borrower],
                "first": _side(one),
                "second": _side(two),
            }
            for question, one, two in single.answers
        ]
        found["head_divergence_bits"] = _numbers(single.divergence)
    if many is not None:
        found["texts"] = many.num_sentences
        found["cka"] = {
            "examples": many.similarity.num_examples,
            "unit": "token" if many.are_tokens else "word",
            "plain": _numbers(many.similarity.plain),
            "debiased": _numbers(many.similarity.debiased),
        }
        found["head_divergence_bits"] = _numbers(many.divergence)
        found["answers"] = [
            {
                "text": a.sentence.text,
                "text_b": a.sentence.text_pair,
                "question": a.kind,
                "first": a.answers[0] or None,
                "p_first": _number(a.probabilities[0]),
                "second": a.answers[1] or None,
                "p_second": _number(a.probabilities[1]),
                "distance": _number(a.distance),
                "changed": a.is_changed,
            }
            for a in many.answers
        ]
    return found


def _side(read: Any) -> list[dict[str, object]] | None:
    """Return what one checkpoint says at each place: answer, probability by layer, settling."""
    if read is None:
        return None
    curves = read.of_final()
    return [
        {
            "token": token if token >= 0 else None,
            "answer": read.final[place],
            "by_layer": [_number(float(value)) for value in curves[:, place]],
            "settled": read.settled[place],
        }
        for place, token in enumerate(read.places)
    ]


def _number(value: float) -> float | None:
    """Return a number that JSON has; None for NaN and infinity."""
    return float(value) if math.isfinite(value) else None


def _numbers(values: Any) -> list[list[float | None]] | None:
    if values is None:
        return None
    return [[_number(value) for value in row] for row in values.tolist()]
