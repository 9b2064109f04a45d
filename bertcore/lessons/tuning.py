"""Answers about fine-tuning, from the checkpoints that ship and from recorded scores."""

import functools

import numpy as np

from bertcore.analysis.attribution.explanation import answer_text
from bertcore.analysis.compare.decision import (
    Decisions,
    LayerDecisions,
    layer_decisions,
    open_decisions,
)
from bertcore.analysis.compare.weight_drift import weight_drift
from bertcore.lessons.answer import (
    Fact,
    Found,
    Kind,
    NotShownError,
    Option,
    answer,
    check_one_of,
    percent,
    subject,
)
from bertcore.lessons.words import pair_of
from bertcore.model.checkpoints.source import FINE_TUNED
from bertcore.model.loading import load
from bertcore.model.model import Model
from bertcore.model.trace import Trace
from bertcore.training.finetuning.recorded import PARTS, TOP, recorded_accuracy
from bertcore.training.tasks import SpanAnswers, open_task_model

_SHOWN = 5
"""Labels that are offered, the most probable ones."""
_SIMILAR = 0.03
"""Accuracies that differ by less count as alike: the standard error of 290 sentences."""


@functools.cache
def _opened(name: str) -> tuple[Model, Decisions]:
    """Return a fine-tuned checkpoint that ships, and what it decides."""
    check_one_of("checkpoint", name, FINE_TUNED)
    bert = load(name, device="cpu")
    return bert, open_decisions(bert, name)


def _decided(name: str, kind: str, text_a: str, text_b: str | None) -> tuple[Trace, LayerDecisions]:
    bert, decisions = _opened(name)
    decision = decisions.of(kind)
    assert decision is not None, "both ship with their heads"
    trace = bert.trace(text_a, text_b)
    return trace, layer_decisions(decision, trace, bert.device)


@answer(Kind.NUMBER, facts="hidden_size num_labels num_parameters share")
def new_head(bert: Model, text_a: str, text_b: str | None, labels: int) -> Found:
    """Number of new weights for a number of labels: a row and a bias for each."""
    size = bert.config.hidden_size
    own = sum(each.numel() for each in bert.module.parameters())
    new = labels * (size + 1)
    facts: dict[str, Fact] = {
        "hidden_size": size,
        "num_labels": labels,
        "num_parameters": own / 1e6,
        "share": new / own,
    }
    return Found(new, facts)


_DECIDED = "label p num_labels unchanged num_layers"


@answer(Kind.OPTION, facts=_DECIDED)
def label_of_text(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Label that the shipped classifier, "sentiment", gives the text."""
    _, found = _decided("sentiment", "class", text_a, text_b)
    return _label(found, 0)


@answer(Kind.OPTION, facts=f"{_DECIDED} token position")
def tag_of_word(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Tag that the shipped tagger, "pos", gives the longest word, among its best five."""
    trace, found = _decided("pos", "tag", text_a, text_b)
    position = subject(trace)
    label = _label(found, found.places.index(position))
    more: dict[str, Fact] = {"token": trace.tokens[position], "position": position}
    return Found(label.answer, {**label.facts, **more}, label.options)


def _label(found: LayerDecisions, place: int) -> Found:
    p = found.probabilities[-1, place]
    shown = (-p).argsort()[:_SHOWN].tolist()
    names = sorted(found.names[number] for number in shown)
    options = tuple(
        Option(name, name, percent(float(p[found.names.index(name)]))) for name in names
    )
    num_layers = len(found.logits) - 1
    facts: dict[str, Fact] = {
        "label": found.final[place],
        "p": float(p.max()),
        "num_labels": len(found.names),
        "unchanged": num_layers - (found.settled[place] or 0),
        "num_layers": num_layers,
    }
    return Found(found.final[place], facts, options)


@answer(Kind.NUMBER, facts="num_layers most least least_layer")
def layer_that_moved(bert: Model, text_a: str, text_b: str | None, other: str) -> Found:
    """Layer whose weights moved most on the way to a fine-tuned checkpoint that ships.

    By the relative change of its matrices, all together.
    """
    drift = weight_drift(bert, _opened(other)[0])
    moved: dict[int, float] = {}
    for layer in range(bert.config.num_hidden_layers):
        parts = [each for (number, _), each in drift.layers.items() if number == layer]
        if not parts:
            raise ValueError(f"{other} has other layers than this checkpoint. Open default.")
        length = sum(each.norm_first**2 for each in parts)
        moved[layer] = (
            sum((each.relative * each.norm_first) ** 2 for each in parts) / length
        ) ** 0.5
    most, least = max(moved, key=moved.__getitem__), min(moved, key=moved.__getitem__)
    facts: dict[str, Fact] = {
        "num_layers": len(moved),
        "most": moved[most],
        "least": moved[least],
        "least_layer": least,
    }
    return Found(most, facts)


_PERCENT = " ".join(f"of_{part}" for part in PARTS)


@answer(Kind.NUMBER, facts=f"{_PERCENT} labels layers")
def accuracy_of(bert: Model, text_a: str, text_b: str | None, part: str, labels: int) -> Found:
    """Recorded accuracy after fine-tuning a part, in percent: head, top, bottom, all or untrained.

    Median of three seeds, of the default checkpoint, on 290 one-sentence reviews.
    """
    facts = _recorded(labels)
    check_one_of("part", part, PARTS)
    return Found(100 * float(facts[f"of_{part}"]), facts)


@answer(Kind.CHOICE, facts=f"{_PERCENT} labels layers", names="first second similar")
def better_part(
    bert: Model, text_a: str, text_b: str | None, first: str, second: str, labels: int
) -> Found:
    """Which of two parts gives the higher recorded accuracy; "similar": within three points."""
    facts = _recorded(labels)
    for part in (first, second):
        check_one_of("part", part, PARTS)
    one, two = float(facts[f"of_{first}"]), float(facts[f"of_{second}"])
    name = "similar" if abs(one - two) <= _SIMILAR else "first" if one > two else "second"
    return Found(name, facts)


def _recorded(labels: int) -> dict[str, Fact]:
    found = recorded_accuracy()
    known = sorted({number for _, number in found})
    check_one_of("labels", labels, known)
    own: dict[str, Fact] = {f"of_{part}": found[part, labels] for part in PARTS}
    return {**own, "labels": labels, "layers": TOP}


NO_ANSWER = "no answer"
_SPAN = "best start_token end_token start end p_start p_end none"
_model = functools.cache(functools.partial(open_task_model, "qa", device="cpu"))


def _asked(
    text_a: str, text_b: str | None
) -> tuple[SpanAnswers, dict[str, Fact], tuple[Option, ...]]:
    """Return the answer of `qa`, the facts of _SPAN about its best span, and the tokens of B."""
    asked = answer_text(_model(), text_a, pair_of(text_b))
    encoding, answered = asked.source.encoding, asked.answer
    assert isinstance(answered, SpanAnswers)
    if not answered.spans:
        raise NotShownError("Sentence B has no token that could be an answer.")
    best, logits = answered.spans[0], answered.logits.astype(float)
    p = np.exp(logits) / np.exp(logits).sum(0)
    facts: dict[str, Fact] = {
        "best": best.text,
        "start_token": encoding.tokens[best.start],
        "end_token": encoding.tokens[best.end],
        "start": float(logits[best.start, 0]),
        "end": float(logits[best.end, 1]),
        "p_start": float(p[best.start, 0]),
        "p_end": float(p[best.end, 1]),
        "none": answered.score(answered.null, answered.null),
    }
    return (
        answered,
        facts,
        tuple(
            Option(
                str(place), f"{place}: {token}", " / ".join(f"{one:.1f}" for one in logits[place])
            )
            for place, token in enumerate(encoding.tokens)
            if encoding.text_ids[place] == 1
        ),
    )


@answer(Kind.TOKEN, facts=_SPAN)
def end_of_answer(bert: Model, text_a: str, text_b: str | None, last: int = 0) -> Found:
    """The token of text B at which the best answer of `qa` to question A starts, or with 1 ends."""
    answered, facts, tokens = _asked(text_a, text_b)
    best = answered.spans[0]
    return Found(str(best.end if last else best.start), facts, tokens)


@answer(Kind.NUMBER, facts=_SPAN)
def score_of_span(bert: Model, text_a: str, text_b: str | None, share: int = 0) -> Found:
    """Score of that answer: both logits added; with 1 its probability, p(start) p(end), in %."""
    answered, facts, _ = _asked(text_a, text_b)
    best = answered.spans[0]
    score = 100 * best.probability if share else answered.score(best.start, best.end)
    return Found(score, facts)


@answer(Kind.OPTION, facts=_SPAN)
def best_span(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Answer of `qa` to question A from text B, among its best five spans and "no answer"."""
    answered, facts, _ = _asked(text_a, text_b)
    shares = {span.text: span.probability for span in reversed(answered.spans)}
    shares[NO_ANSWER] = answered.no_answer
    best = NO_ANSWER if answered.best is None else answered.best.text
    return Found(
        best, facts, tuple(Option(one, one, percent(shares[one])) for one in sorted(shares))
    )
