"""Results of `bertscope compare` for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bertcore.analysis.compare.checkpoints import TextComparison
    from bertcore.analysis.compare.texts import TextsComparison
    from bertcore.analysis.compare.weight_drift import WeightDrift


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
