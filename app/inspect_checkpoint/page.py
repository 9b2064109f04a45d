"""Inspect: what a fine-tuned checkpoint answers, why, what would change it, and where it fails."""

from dataclasses import replace
from typing import Any

import streamlit as st

from bertcore import Trace
from bertcore.analysis.attribution import (
    BASELINES,
    OCCLUSIONS,
    TaskInput,
    answer,
    can_differentiate,
    can_follow_layers,
    class_attribution,
    why_no_shares,
)
from bertcore.analysis.words.logit_attribution import LogitAttribution
from bertcore.tasks.targets import ClassTarget, LabelTarget, TagTarget

from ..access.checkpoints import HOW_TO_CHOOSE
from ..access.policy import policy
from ..plots import label_name, plain
from ..plots.logit_shares import (
    grid,
    shares_table,
    staircase,
    token_boxes,
    token_shares,
    tokens_table,
)
from ..shell import Field, Picture, cache, frame, one_of, sidebar
from ..shell.sentence_box import DEFAULT, REVIEW
from ..task_model import model as inspection
from ..task_model.choices import VIEW, VIEWS
from ..task_model.model import Inputs, Query, readable_task_head, setup, task_head
from ..task_model.task_views import ExplainedTarget, TaskView, view_of
from . import PAGE, counterfactuals, file_results
from .words import show_layers, show_parts, show_words

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


STEPS = (20, 50, 200)
BASELINE = Field("inspect_baseline", BASELINES[0], BASELINES)
NUM_STEPS = Field("inspect_steps", STEPS[1], STEPS)
OCCLUSION = Field("inspect_erase", OCCLUSIONS[0])


def show_answer(page: frame.Page, view: TaskView) -> tuple[Inputs, ExplainedTarget] | None:
    """Draw the answer and the choice of what is explained; None if there is nothing to explain."""
    texts = view.read(page)
    source = texts.source
    _say_cut(texts.key, source)
    answered = cache.computed(answer, inspection.TaskKey(texts.key), texts)
    if not source.text_words:
        return None
    chosen = view.show(page, answered, source, setup(texts))
    return None if chosen is None else (texts, chosen)


def choose_how(page: frame.Page, texts: Inputs, chosen: ExplainedTarget) -> Query:
    """Draw where gradients begin, their steps, and how words are occluded."""
    can_drop = not inspection.model(page.bert_key).task.answers_each_token
    ways = OCCLUSIONS if can_drop else OCCLUSIONS[:1]
    mask, pad = inspection.stand_ins(page.bert_key)
    baselines = {"mask": mask, "pad": pad, "zero": "zeros"}
    occlusions = {"mask": f"replaced by {mask}", "drop": "left out"}
    with st.popover("How to explain", icon=":material/tune:"):
        baseline = one_of(
            "Gradients begin from",
            {name: baselines[name] for name in BASELINES},
            BASELINE,
            with_label=True,
            help=(
                "Gradients are summed along the path from a text without content to yours. In that "
                f"text every word is {plain(mask)}, {plain(pad)}, or a vector of zeros; "
                f"{plain(page.marks.added)} stay."
            ),
        )
        num_steps = one_of(
            "Steps on the path",
            STEPS,
            NUM_STEPS,
            with_label=True,
            help="More steps make the sum more exact but take longer.",
        )
        occlusion = one_of(
            "Occluded words are",
            {name: occlusions[name] for name in ways},
            OCCLUSION,
            with_label=True,
        )
        if not can_drop:
            st.caption(
                "This model answers for each token, so words can be masked but not left out."
            )
    return Query(texts, chosen.target, baseline, num_steps, occlusion)


def _say_cut(key: cache.BertKey, source: TaskInput) -> None:
    """Report whether the texts were cut, and by which limit."""
    model, cut = inspection.model(key), source.truncation
    if cut is None:
        return
    why = ""
    if max(map(len, source.rows)) < model.max_length:
        why = (
            " The limit is that of its fine-tuning, which never saw longer texts; the other pages "
            f"read up to {model.max_length} tokens."
        )
    st.warning(plain(cut.sentence()) + why)


WHYS = {
    "words": "Words",
    "parts": "Embeddings",
    "layers": "Layers",
    "shares": "Who wrote it",
    "swaps": "Counterfactuals",
}
WHY = Field("inspect_why", "words")
EXAMPLE = "sentiment"
"""The checkpoint that is shown instead of one without a head for a task."""
FINETUNE = """bertscope finetune --task classify --train train.tsv --dev dev.tsv --out my-classifier
bertscope    # in the same folder; choose my-classifier"""


def with_head(page: frame.Page) -> frame.Page:
    """Return the page with a fine-tuned checkpoint: its own, or an example, with a note.

    Ends the page if the checkpoint's head is not for this page.
    """
    shown = page if inspection.has_head(page.bert) else _show_example(page)
    with frame.guard(stop=True):
        inspection.model(shown.bert_key)
    return shown


def _show_example(page: frame.Page) -> frame.Page:
    """Note that a shipped classifier is shown; return the page with it.

    Instead of the text that the app opens with, it reads one that has something to judge.
    """
    is_untouched = page.text_a == DEFAULT.text_a
    text = REVIEW.text_a if is_untouched else page.text_a
    on = f" on “{plain(text)}”," if page.has_text and is_untouched else ","
    name = plain(sidebar.brief_name(page.bert_key.source))
    row = frame.example_row(
        f"the classifier **{EXAMPLE}**{on} since {name} has no decision to inspect."
    )
    if page.has_text:
        row.button(f"{EXAMPLE} on your text", on_click=sidebar.choose, args=(EXAMPLE,))
    with row.popover("Your own checkpoint"):
        how = (
            "Choose a fine-tuned checkpoint in the sidebar, or fine-tune one on a table with a "
            "text and a label in each row, on *Training* or in a terminal."
        )
        st.markdown(
            f"{HOW_TO_CHOOSE if policy().is_closed else how} This page reads classifiers, taggers, "
            "and regression, question-answering and multiple-choice models of BERT, DistilBERT, "
            "RoBERTa, XLM-RoBERTa, ELECTRA, ALBERT, ModernBERT, DeBERTa, MobileBERT, MPNet, XLNet "
            "and EuroBERT, as BertScope and `transformers` save them "
            "(`DistilBertForSequenceClassification`)."
        )
        st.code(FINETUNE, language="bash")
    key = sidebar.key_of(EXAMPLE)
    return replace(page, bert_key=key, text_a=text, text_b=None if is_untouched else page.text_b)


def show_text(page: frame.Page) -> None:
    """Draw the answer to the text in the box, and one way to explain it."""
    with frame.guard(stop=True):
        model = inspection.model(page.bert_key)
        for note in model.notes:
            st.caption(plain(note))
        to_explain = show_answer(page, view_of(model.task))
    if to_explain is None:
        return
    texts, chosen = to_explain
    st.header("Why?", anchor=False)
    whys = dict(WHYS)
    if not can_differentiate(model):
        del whys["parts"], whys["layers"]
    elif not can_follow_layers(model):
        del whys["layers"]
    if not can_share(page.bert_key):
        del whys["shares"]
    row = st.container(horizontal=True, vertical_alignment="center")
    why = one_of("Why", whys, WHY, where=row)
    with row:
        query = choose_how(page, texts, chosen)
    with frame.guard():
        if why == "swaps":
            counterfactuals.show(page, query, chosen.word)
        elif why == "parts":
            show_parts(page, query)
        elif why == "layers":
            show_layers(page, query)
        elif why == "shares":
            show_shares(page, query)
        else:
            show_words(page, query)


def draw() -> None:
    """Draw the page."""
    is_text = VIEW.value != "file"
    page = with_head(frame.begin(PAGE, needs_text=is_text, shows_trace=False))
    one_of("What to look at", VIEWS, VIEW)
    if is_text:
        show_text(page)
    else:
        with frame.guard():
            file_results.show(page)
