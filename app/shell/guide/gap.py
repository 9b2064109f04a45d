"""The learner's mark on the model's bar: how far a prediction was from what the model computes."""

import re
from html import escape

from bertcore.lessons.answer import Found
from bertcore.lessons.lesson import Judgement, Step, written

from ..words.language import words

_SHARE = re.compile(r"([\d.]+)%")
MOST_BARS = 8


def picture(step: Step, found: Found, judgement: Judgement, *, is_given: bool = True) -> str:
    """Return bars of what the model gives and a ring at the learner's answer, as HTML.

    "" where there is no number to draw, or too many.

    Args:
        is_given: Whether there is an answer of the learner's.
    """
    best = judgement.best
    if step.choices or len(found.options) > MOST_BARS:
        return ""
    if not found.options:
        # A wild guess stands at the edge: the bar must remain one.
        top = max(best, min(judgement.chosen, 4 * best))
        if best <= 0 or judgement.chosen < 0:
            return ""
        ring = min(judgement.chosen / top, 1.0) if is_given else None
        bars = [(words("models"), written(best), best / top, ring)]
    else:
        shares = [_SHARE.fullmatch(option.value) for option in found.options]
        if not all(shares):
            return ""
        values = [float(share[1]) for share in shares if share is not None]
        top = max(values) or 1.0
        bars = [
            (option.text, option.value, value / top, value / top if mine else None)
            for place, (option, value) in enumerate(zip(found.options, values, strict=True))
            for mine in [is_given and place == int(judgement.chosen)]
        ]
        bars.sort(key=lambda bar: -bar[2])
    told = words("ring") if is_given else ""
    return f'<figure class="gap">{"".join(map(_bar, bars))}<figcaption>{told}</figcaption></figure>'


def _bar(bar: tuple[str, str, float, float | None]) -> str:
    name, value, length, ring = bar
    mark = "" if ring is None else f'<i style="left:{100 * ring:.1f}%"></i>'
    return (
        f'<div><b dir="auto">{escape(name)}</b><span><u style="width:{100 * length:.1f}%"></u>'
        f"{mark}</span><em>{escape(value)}</em></div>"
    )
