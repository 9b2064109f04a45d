"""Answers about question answering, from the shipped `qa`: a start, an end and their sum."""

import functools

import numpy as np

from bertcore.analysis.attribution.explanation import answer_text
from bertcore.lessons.answer import Fact, Found, Kind, NotShownError, Option, answer, percent
from bertcore.lessons.words import pair_of
from bertcore.model.model import Model
from bertcore.training.tasks import SpanAnswers, open_task_model
from bertcore.training.tasks.questions import MAX_ANSWER_TOKENS

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
def score_of_span(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Score of that answer: the logit of its start and that of its end, added."""
    answered, facts, _ = _asked(text_a, text_b)
    return Found(answered.score(answered.spans[0].start, answered.spans[0].end), facts)


@answer(Kind.NUMBER, facts=f"{_SPAN} mean")
def probability_of_span(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Probability of that answer, p(start) times p(end), in percent."""
    answered, facts, _ = _asked(text_a, text_b)
    mean = 50 * (float(facts["p_start"]) + float(facts["p_end"]))
    return Found(100 * answered.spans[0].probability, {**facts, "mean": mean})


@answer(Kind.NUMBER, facts="num_tokens most squared")
def number_of_spans(bert: Model, text_a: str, text_b: str | None) -> Found:
    """Number of spans of text B that may be the answer: the end is not before the start."""
    count = len(_asked(text_a, text_b)[2])
    spans = sum(min(count - start, MAX_ANSWER_TOKENS) for start in range(count))
    return Found(spans, {"num_tokens": count, "most": MAX_ANSWER_TOKENS, "squared": count**2})


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
