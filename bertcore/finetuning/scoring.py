"""Run a model over a data set and judge what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax

from bertcore.evaluation.breakdown import break_down
from bertcore.evaluation.metrics import (
    Scores,
    class_metrics,
    entity_metrics,
    mean_metrics,
    score_metrics,
)
from bertcore.evaluation.squad_metrics import best_threshold, score_answer
from bertcore.finetuning.data.questions import find_answers
from bertcore.finetuning.data.read_tags import are_entities
from bertcore.finetuning.data.rows import IGNORED, Rows, ordered_batches
from bertcore.finetuning.data.task_data import TaskData
from bertcore.finetuning.features import Features
from bertcore.finetuning.loss import task_loss
from bertcore.network.task_heads import TaskNetwork

OnShare = Callable[[float], None]
SCORE_BATCH = 64


class Scored(NamedTuple):
    """Scores, and what was predicted for each example."""

    scores: Scores
    predictions: list[dict[str, Any]]
    """A JSON object each, in the order of the file."""


def score_model(
    module: TaskNetwork,
    data: TaskData,
    *,
    batch_size: int = SCORE_BATCH,
    null_threshold: float = 0.0,
    in_full: bool = True,
    on_share: OnShare = lambda share: None,
    features: Features | None = None,
) -> Scored:
    """Return scores and predictions of a model, computed in the format of its weights.

    Args:
        module: On any device; left in the mode that it is in.
        data: Whose labels are numbered as the model's classes.
        batch_size: Examples at once.
        null_threshold: Of "qa": no answer where it is so much more probable, in logits.
        in_full: Whether to bootstrap, which takes longer than the model on small data, and to part
            the answers by confidence, length and label.
        on_share: Told which share is done.
        features: What the encoder says of the rows, where that is known already.
    """
    options = _Options(batch_size, null_threshold, in_full, on_share, features)
    was_training = module.training
    module.eval()
    try:
        judge = {"tag": _judge_tags, "qa": _judge_answers}.get(data.task.name, _judge_rows)
        return judge(module, data, options)
    finally:
        module.train(was_training)


class _Options(NamedTuple):
    batch_size: int
    null_threshold: float
    in_full: bool
    on_share: OnShare
    features: Features | None


class _Outputs(NamedTuple):
    examples: NDArray[np.int64]
    logits: NDArray[np.float32]
    targets: NDArray[np.generic]
    kept: NDArray[np.bool_]
    loss: float


@torch.no_grad()
def _run(module: TaskNetwork, rows: Rows, options: _Options) -> Iterator[_Outputs]:
    device = module.head.weight.device
    done = 0
    for examples in ordered_batches(rows, options.batch_size):
        batch = rows.batch(examples).to(device)
        if options.features is None:
            hidden = module.encode(batch.input_ids, batch.segment_ids, batch.attention_mask)
        else:
            hidden = options.features.batch(examples).to(device)
        logits = module.read(hidden, batch.attention_mask, batch.input_ids.shape[:-1]).float()
        if rows.targets.ndim == 2:
            lengths = torch.from_numpy(rows.lengths[examples]).to(device)
            places = torch.arange(logits.shape[1], device=device)
            # Of padding nothing is predicted; [T] differs by row, so the loss must not see it.
            logits = logits.masked_fill((places >= lengths[:, None])[..., None], -1e9)
        loss = task_loss(logits, batch.targets, module.kind)
        yield _Outputs(
            examples,
            logits.cpu().numpy(),
            batch.targets.cpu().numpy(),
            (batch.targets != IGNORED).cpu().numpy(),
            float(loss),
        )
        done += len(examples)
        options.on_share(done / len(rows))


def _judge_rows(module: TaskNetwork, data: TaskData, options: _Options) -> Scored:
    """Judge labels, scores and choices: one answer a row."""
    num = len(data.rows)
    loss = 0.0
    found: NDArray[np.float32] | None = None
    for out in _run(module, data.rows, options):
        if found is None:
            found = np.empty((num, *out.logits.shape[1:]), dtype=np.float32)
        found[out.examples] = out.logits
        loss += out.loss * len(out.examples)
    assert found is not None
    targets = data.rows.targets
    if data.task.name == "regress":
        predicted = found[:, 0]
        metrics, intervals = score_metrics(
            targets.astype(np.float32), predicted, with_intervals=options.in_full
        )
        said: list[dict[str, Any]] = [
            {"gold": round(float(gold), 6), "predicted": round(float(value), 6)}
            for gold, value in zip(targets, predicted, strict=True)
        ]
        scores = Scores(num_examples=num, loss=loss / num, metrics=metrics, intervals=intervals)
        return Scored(scores, said)
    gold = targets.astype(np.int64)
    best = found.argmax(1)
    shares = softmax(found, axis=-1)[np.arange(num), best]
    names = data.labels or tuple(str(i) for i in range(found.shape[1]))
    said = [
        {"gold": names[g], "predicted": names[p], "confidence": round(float(share), 6)}
        for g, p, share in zip(gold, best, shares, strict=True)
    ]
    metrics, intervals, matrix = class_metrics(
        gold, best, len(names), with_intervals=options.in_full
    )
    if data.task.name == "choice":
        metrics = {"accuracy": metrics["accuracy"]}
        intervals = {name: pair for name, pair in intervals.items() if name == "accuracy"}
    scores = Scores(
        num_examples=num,
        loss=loss / num,
        metrics=metrics,
        intervals=intervals,
        confusion=matrix.tolist(),
        confusion_labels=names,
        **_parted(options, gold, best, shares, data.rows.lengths, names),
    )
    return Scored(scores, said)


def _judge_tags(module: TaskNetwork, data: TaskData, options: _Options) -> Scored:
    best_of_row: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)] * len(data.rows)
    sure_of_row: list[NDArray[np.float32]] = [np.empty(0, dtype=np.float32)] * len(data.rows)
    loss = 0.0
    for out in _run(module, data.rows, options):
        best, sure = out.logits.argmax(-1), softmax(out.logits, axis=-1).max(-1)
        for place, row in enumerate(out.examples):
            best_of_row[row] = best[place][out.kept[place]]
            sure_of_row[row] = sure[place][out.kept[place]]
        loss += out.loss * int(out.kept.sum())
    targets = data.rows.targets
    gold = targets[targets != IGNORED].astype(np.int64)
    predicted = np.concatenate(best_of_row)
    # Tokens of the sentence of each word.
    lengths = np.repeat(data.rows.lengths, [len(row) for row in best_of_row])
    assert data.sentence_lengths is not None
    ends = np.cumsum(data.sentence_lengths)[:-1]
    names = np.array(data.labels, dtype=object)
    gold_tags = [list(tags) for tags in np.split(names[gold], ends)]
    found_tags = [list(tags) for tags in np.split(names[predicted], ends)]
    matrix: NDArray[np.int64]
    metrics, intervals, matrix = class_metrics(
        gold, predicted, len(names), with_intervals=options.in_full
    )
    by_type: dict[str, dict[str, float]] = {}
    if are_entities(data.labels):
        metrics, intervals, by_type = entity_metrics(
            gold_tags, found_tags, with_intervals=options.in_full
        )
    else:
        # Without entities, F1 is the mean over the tags.
        metrics = {"f1": metrics["macro_f1"], "accuracy": metrics["accuracy"]}
        names_of = {"macro_f1": "f1", "accuracy": "accuracy"}
        intervals = {names_of[n]: pair for n, pair in intervals.items() if n in names_of}
    scores = Scores(
        num_examples=data.num_examples,
        loss=loss / max(1, len(gold)),
        metrics=metrics,
        intervals=intervals,
        confusion=matrix.tolist(),
        confusion_labels=data.labels,
        by_type=by_type,
        **_parted(options, gold, predicted, np.concatenate(sure_of_row), lengths, data.labels),
    )
    said = [{"gold": a, "predicted": b} for a, b in zip(gold_tags, found_tags, strict=True)]
    return Scored(scores, said)


def _judge_answers(module: TaskNetwork, data: TaskData, options: _Options) -> Scored:
    questions = data.questions
    assert questions is not None
    logits: list[NDArray[np.float32]] = [np.empty((0, 2), dtype=np.float32)] * len(data.rows)
    lengths = data.rows.lengths
    loss = 0.0
    for out in _run(module, data.rows, options):
        for place, row in enumerate(out.examples):
            logits[row] = out.logits[place, : lengths[row]]
        loss += out.loss * len(out.examples)
    answers = find_answers(questions, logits)
    golds = [[text for text, _ in example.answers] for example in questions.examples]
    impossible = [not gold for gold in golds]
    # Where every question has an answer, none is withheld.
    may_be_none = any(impossible)
    texts = [
        "" if may_be_none and answer.null_difference > options.null_threshold else answer.text
        for answer in answers
    ]
    values = np.array([score_answer(t, g) for t, g in zip(texts, golds, strict=True)])
    metrics, intervals = mean_metrics(
        {"f1": values[:, 1], "exact_match": values[:, 0]}, with_intervals=options.in_full
    )
    notes: tuple[str, ...] = ()
    if may_be_none:
        none = np.array(impossible)
        for name, chosen in (("has_answer", ~none), ("no_answer", none)):
            if chosen.any():
                metrics[f"{name}_f1"] = float(values[chosen, 1].mean())
                metrics[f"{name}_exact_match"] = float(values[chosen, 0].mean())
        free = [score_answer(a.text, g)[1] for a, g in zip(answers, golds, strict=True)]
        best, threshold = best_threshold([a.null_difference for a in answers], free, impossible)
        metrics |= {"best_f1": best, "best_f1_threshold": threshold}
        notes = (
            f"The best F1, {best:.3f}, is had with the null threshold {threshold:.3f}; it was "
            "found on these questions themselves.",
        )
    scores = Scores(
        num_examples=questions.num,
        loss=loss / len(data.rows),
        metrics=metrics,
        intervals=intervals,
        notes=notes,
    )
    said = [
        {
            "id": example.id,
            "gold": gold,
            "predicted": text,
            "null_difference": round(answer.null_difference, 6),
        }
        for example, gold, text, answer in zip(
            questions.examples, golds, texts, answers, strict=True
        )
    ]
    return Scored(scores, said)


def _parted(
    options: _Options,
    gold: NDArray[np.int64],
    predicted: NDArray[np.int64],
    confidence: NDArray[np.float32],
    lengths: NDArray[np.int64],
    labels: Sequence[str],
) -> dict[str, Any]:
    """Return the fields of Scores that part the answers; {} if that was not asked for."""
    if not options.in_full or not len(gold):
        return {}
    breakdown = break_down(gold, predicted, confidence, lengths, labels)
    notes: tuple[str, ...] = ()
    if breakdown is None:
        num = int((~np.isfinite(confidence)).sum())
        notes = (f"{num:,} of {len(gold):,} answers are NaN, so there is no calibration.",)
    return {"breakdown": breakdown, "notes": notes}
