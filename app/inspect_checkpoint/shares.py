"""Who wrote the answer: a class's logit, share by share, as for a word on Inside a layer."""

from typing import Any

import streamlit as st

from bertcore import Trace
from bertcore.analysis.attribution import class_attribution, why_no_shares
from bertcore.analysis.words.logit_attribution import LogitAttribution
from bertcore.tasks.targets import ClassTarget, LabelTarget, TagTarget

from ..plots import label_name, plain
from ..plots.logit_shares import (
    grid,
    shares_table,
    staircase,
    token_boxes,
    token_shares,
    tokens_table,
)
from ..shell import Field, Picture, cache, frame
from ..task_model.model import Inputs, Query, readable_task_head, setup, task_head

NOTHING = ""
AGAINST = Field("inspect_against", NOTHING)
"""Empty for no other class."""

_CODE = """
import bertcore
from bertcore.analysis.attribution import class_attribution
from bertcore.tasks import read_task_head

bert = bertcore.load({path!r})
trace = bert.trace({text!r}, {text_pair!r}, encoding=source.encoding)
found = class_attribution(
    bert, read_task_head(bert), trace, {label!r}, {against!r}, position={position}
)
"""
STAIRCASE = Picture(
    name="inspect-who-wrote",
    figure=staircase,
    table=shares_table,
    how=(
        "The head reads {read}: a sum of what embeddings, heads and neurons wrote. Fixed at their "
        "values in this run are the divisors of the LayerNorms{held}. The logit is then a sum too, "
        "and the shares add up to **{logit}**. A share is not what would be lost without that "
        "part, since the fixed factors would then change. What a part did through later layers is "
        "credited to those layers."
    ),
    code=_CODE
    + "[(part.kind, part.layer, part.head, part.logit) for part in found.parts]\n"
    + "found.logit                                        # their sum\n",
)
GRID = Picture(
    name="inspect-who-wrote-by-part",
    figure=grid,
    table=shares_table,
    how=(
        "The same shares, head by head. Blue raised the logit, orange lowered it; the embeddings "
        "and the biases after the last layer are in the staircase above."
    ),
    code=_CODE + 'found.heads(0), found.total("feed_forward", layer=0)\n',
)
SOURCES = Picture(
    name="inspect-who-wrote-from-tokens",
    figure=token_boxes,
    table=tokens_table,
    how=(
        "What the heads wrote, by the token that they took it from, summed over all layers. In "
        "later layers a token's vector already contains what it read from other tokens."
    ),
    code=_CODE + "found.sources.sum((0, 1))                          # [T]\n",
)


def can_share(key: cache.BertKey) -> bool:
    """Return whether the head's logits have shares."""
    reader = readable_task_head(key)
    return reader is not None and why_no_shares(reader) is None


def show_shares(page: frame.Page, query: Query) -> None:
    """Draw the shares of the explained class's logit."""
    reader = task_head(query.texts.key)
    assert reader is not None  # `can_share`
    target = query.target
    label = None
    if isinstance(target, ClassTarget | LabelTarget | TagTarget):
        label = reader.labels[target.label]
    others = [NOTHING, *(name for name in reader.labels if name != label)]
    against = NOTHING
    if label is not None and not isinstance(target, LabelTarget):
        against = st.selectbox(
            "Compared with",
            others,
            format_func=lambda name: name or "no other class",
            key=AGAINST.key(options=others),
            width=220,
            help="The shares are then of the difference between the two logits. What raises all "
            "classes equally cancels out.",
        )
    position = target.position if isinstance(target, TagTarget) else None
    texts = query.texts
    found = _attribution(query, label, against or None, position)
    values: dict[str, Any] = {
        "path": texts.key.source,
        "text": texts.text_a,
        "text_pair": texts.text_b,
        "label": label,
        "against": against or None,
        "position": position,
    }
    opening = setup(texts)
    name = "the score" if label is None else f"“{plain(label_name(label))}”"
    minus = f", not “{plain(label_name(against))}”" if against else ""
    st.subheader(f"Who wrote {name}{minus}?", anchor=False)
    logit = f"{found.logit:.2f}".replace("-", "−")
    about = _about_head(page, query)
    STAIRCASE.show(page, found, setup=opening, logit=logit, **about, **values)
    on_ground = {"is_dark": page.is_dark}
    GRID.show(page, found, drawn=on_ground, setup=opening, **values)
    taken = token_shares(found, _trace_of(texts).tokens)
    SOURCES.show(page, taken, drawn=on_ground, setup=opening, **values)


def _about_head(page: frame.Page, query: Query) -> dict[str, Any]:
    """Return what the head reads and which of its factors are fixed, for the caption."""
    reader = task_head(query.texts.key)
    assert reader is not None
    form = reader.head.form
    first = plain(page.marks.first)
    read = {"pooler": first, "first": first, "last": "the last token", "all": "the tagged token"}
    held = ""
    if form.reads == "pooler":
        held = ", and the factor tanh(z) / z by which the pooler scales each number z"
    elif form.dense:
        name = {"tanh": "tanh(z)", "relu": "ReLU(z)", "gelu": "GELU(z)"}[reader.head.activation]
        held = f", and the factor {name} / z by which the head scales each number z"
    return {"read": f"the vector of {read[form.reads]}", "held": held}


@cache.once
def _trace_of(texts: Inputs) -> Trace:
    read = texts.source
    return cache.opened(texts.key).trace(read.text, read.text_pair, encoding=read.encoding)


@cache.once
def _attribution(
    query: Query, label: str | None, against: str | None, position: int | None
) -> LogitAttribution:
    """Return the shares of a class's logit; no label for a score, a position for a tag."""
    texts = query.texts
    reader = task_head(texts.key)
    assert reader is not None
    bert, trace = cache.opened(texts.key), _trace_of(texts)
    return class_attribution(bert, reader, trace, label, against, position=position)
