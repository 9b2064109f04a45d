"""The results of `bertscope compare` as tables in the terminal, and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import typer

from bertscope.cli.output import make_table, plain, print_table

if TYPE_CHECKING:
    from bertcore.analysis.compare.checkpoints import TextComparison
    from bertcore.analysis.compare.texts import TextsComparison
    from bertcore.analysis.compare.weight_drift import WeightDrift


MOST = 8
"""Rows of a table of what changed most."""


def print_weights(drift: WeightDrift) -> None:
    """Print the parts that moved most, and what could not be compared."""
    if drift.is_same:
        typer.echo("The weights are the same: every difference is zero.")
        return
    parts = [((None, part), d) for part, d in drift.others.items()]
    parts += list(drift.layers.items())  # type: ignore[arg-type]
    largest = sorted(parts, key=lambda entry: -_or_zero(entry[1].relative))[:MOST]
    table = make_table("part", "moved by", "1 - cosine", right=("moved by", "1 - cosine"))
    table.title = "weights that moved most"
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


def print_answers(comparison: TextComparison, names: tuple[str, str]) -> None:
    """Print the answers of two checkpoints to one text."""
    from bertcore.analysis.compare.decision import KINDS

    columns = ("question", "checkpoint", "answer", "p", "settled at layer")
    table = make_table(*columns, right=("p", "settled at layer"))
    for question, *sides in comparison.answers:
        for number, side in enumerate(sides):
            if side is None:
                table.add_row(KINDS[question.kind], plain(names[number]), "has no answer", "", "")
                continue
            borrowed = " (head of the other)" if question.borrower == number else ""
            for place in range(min(len(side.places), MOST)):
                settled = side.settled[place]
                label = f": {side.labels[place]}" if side.labels else ""
                value = float(side.of_final()[-1, place])
                table.add_row(
                    plain(KINDS[question.kind] + label),
                    plain(names[number] + borrowed),
                    plain(side.final[place]),
                    f"{value:.4g}",
                    "" if settled is None else str(settled),
                )
    print_table(table)


def print_texts(comparison: TextsComparison, names: tuple[str, str]) -> None:
    """Print the similarity of the layers over many texts, and the answers that differ most."""
    import numpy as np

    similarity = comparison.similarity
    table = make_table("layer", "CKA", "debiased", right=("layer", "CKA", "debiased"))
    what = "tokens" if comparison.are_tokens else "words"
    table.title = f"CKA over {similarity.num_examples:,} {what}"
    for layer, (p, d) in enumerate(
        zip(np.diagonal(similarity.plain), np.diagonal(similarity.debiased), strict=True)
    ):
        table.add_row(str(layer), f"{p:.3f}", f"{d:.3f}")
    print_table(table)
    if similarity.num_examples < 2 * similarity.width:
        typer.echo(
            f"{similarity.num_examples:,} {what} are few for vectors of width {similarity.width}: "
            "trust the debiased column."
        )
    compared = [a for a in comparison.answers if a.kind != "score" and all(a.answers)]
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


def print_heads(divergence: Any) -> None:
    """Print the heads whose attention differs most; `divergence` is [L, H], in bits, or None."""
    if divergence is None:
        return
    num_heads = divergence.shape[1]
    order = sorted(range(divergence.size), key=lambda n: -_or_zero(divergence.flat[n]))[:MOST]
    table = make_table("head", "bits", right=("bits",))
    table.title = "heads whose attention differs most"
    for place in order:
        table.add_row(f"{place // num_heads}.{place % num_heads}", f"{divergence.flat[place]:.3f}")
    print_table(table)


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else float(value)


def to_record(
    names: tuple[str, str],
    limitations: list[str],
    drift: WeightDrift,
    single: TextComparison | None,
    many: TextsComparison | None,
) -> dict[str, object]:
    """Return the results as a record for JSON.

    Args:
        names: Names of both checkpoints.
        limitations: Sentences on what cannot be compared.
        drift: Drift of the weights.
        single: Both answers to one text; None for many.
        many: The same for many texts; None for one.
    """
    record: dict[str, object] = {
        "first": names[0],
        "second": names[1],
        "cannot_be_compared": limitations,
        "weights": {
            "same": drift.is_same,
            "tensors": [
                {
                    "name": t.name,
                    "part": t.part,
                    "layer": t.layer,
                    "relative_change": t.drift.relative,
                    "cosine": t.drift.cosine,
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
        record["answers"] = [
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
        record["head_divergence_bits"] = single.divergence
    if many is not None:
        record["texts"] = many.num_sentences
        record["cka"] = {
            "examples": many.similarity.num_examples,
            "unit": "token" if many.are_tokens else "word",
            "plain": many.similarity.plain,
            "debiased": many.similarity.debiased,
        }
        record["head_divergence_bits"] = many.divergence
        record["answers"] = [
            {
                "text": a.sentence.text,
                "text_b": a.sentence.text_pair,
                "question": a.kind,
                "first": a.answers[0] or None,
                "p_first": a.probabilities[0],
                "second": a.answers[1] or None,
                "p_second": a.probabilities[1],
                "distance": a.distance,
                "changed": a.is_changed,
            }
            for a in many.answers
        ]
    return record


def _side(read: Any) -> list[dict[str, object]] | None:
    """Return one checkpoint's answers: for each place the answer, its probability by layer, and
    the layer at which it settles."""
    if read is None:
        return None
    curves = read.of_final()
    return [
        {
            "token": token if token >= 0 else None,
            **({"label": read.labels[place]} if read.labels else {}),
            "answer": read.final[place],
            "by_layer": [float(value) for value in curves[:, place]],
            "settled": read.settled[place],
        }
        for place, token in enumerate(read.places)
    ]
