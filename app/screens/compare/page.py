"""Compare: two checkpoints on the same text, such as before and after fine-tuning."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.analysis.compare.checkpoints import NO_QUESTION, ComparedAnswers, HeadInBoth, limits
from bertcore.analysis.compare.decision import KINDS
from bertcore.analysis.compare.weight_drift import WeightDrift, part_of
from bertcore.analysis.heads.attention import attention_map
from bertcore.model.checkpoints.source import SHIPPED
from bertcore.model.interventions import parse_head

from ...parts.canvas.heat_map import heat_map
from ...plots import label_name, marks_of, own_markdown, plain, shorten, theme
from ...plots.charts import AFTER_LAYER
from ...server.policy import default_source, policy
from ...shell import (
    Compute,
    Field,
    cache,
    caption,
    computed,
    consent,
    frame,
    hidden,
    offer,
    show,
    sidebar,
)
from ...shell.links import COMPARED_WITH, SUGGESTED
from ...shell.pictures.canvas_options import keep_options, kept_options, last_revision
from ...sources import head_texts
from . import PAGE, views
from .sides import (
    UNTRAINED,
    Case,
    Side,
    began_with,
    choice_names,
    in_order,
    open_other,
    sides,
)

OPENED: Field[list[str]] = Field("compare_view", [], ("layers", "heads", "weights", "texts"))
"""Headings that are open."""
QUESTION = Field("compare_question", "")
PLACE = Field("compare_place", 0)
MOST_CHANGED = "best"  # stands for the head that differs most
HEAD = Field("compare_head", MOST_CHANGED)
MAP_OPTIONS = Field("compare_map", "")  # view options of the two heat maps
PLACE_NAMES = {"word": "Mask", "span": "Start or end", "labels": "Label"}

HELP = "The sidebar's checkpoint is the first, unless the other is what its training began with."
BEGAN_WITH = (
    "{second} was trained from {first}: every difference below is what that training changed."
)
HOW_UNTRAINED = (
    "**untrained** has the shape and the vocabulary of {first} but random weights, so the "
    "difference is what training changed. Choose your own checkpoint above: `bertscope finetune` "
    "makes one, and so does a run on the Training page."
)
SAME_WEIGHTS = (
    "Both have the same weights (fingerprint {fingerprint}), so every difference below is zero; "
    "only a classifier's own layer, which is not part of the fingerprint, may differ."
)


def open_both(first: str, second: str) -> None:
    """Open a checkpoint on all pages, and another beside it on this one."""
    sidebar.choose(first)
    consent.allow(second)
    COMPARED_WITH.put(second)


def choose(page: frame.Page) -> tuple[Side, Side]:
    """Draw the choice of the other checkpoint; return both, opened, in the order of the page.

    If the other does not open, one sentence shows why and the page ends.
    """
    row = st.container(horizontal=True, vertical_alignment="bottom", key="compare_choice")
    known = [UNTRAINED, default_source(), *SHIPPED, *sidebar.known_sources()]
    options = dict.fromkeys([*sidebar.toys_last(known), COMPARED_WITH.value or SUGGESTED])
    names = choice_names([*options], page.bert_key)
    row.selectbox(
        f"Compare {plain(sidebar.short_name(page.bert_key.source))} with",
        [SUGGESTED, *(source for source in options if source != SUGGESTED)],
        key=COMPARED_WITH.key(),
        accept_new_options=not policy().is_closed,
        format_func=lambda source: names.get(source) or sidebar.short_name(source),
        on_change=lambda: consent.allow(COMPARED_WITH.value),
        help=f"{sidebar.how_to_choose()} {HELP}",
        width=420,
    )
    chosen = (COMPARED_WITH.value or SUGGESTED).strip()
    with frame.guard(stop=True):
        own_side, other_side = sides(page, chosen)
    first_side, second_side = in_order(own_side, other_side, chosen)
    row.button(
        "Swap",
        icon=":material/swap_horiz:",
        on_click=open_both,
        args=(second_side.key.source, first_side.key.source),
        disabled=other_side.is_untrained,
    )
    open_other(other_side)
    if began_with(second_side.key) == first_side.key.source and not second_side.is_untrained:
        first, second = plain(first_side.name), plain(second_side.name)
        st.caption(BEGAN_WITH.format(first=first, second=second))
    _note_limits(first_side, second_side)
    return first_side, second_side


def _note_limits(first: Side, second: Side) -> None:
    """State what cannot be compared, or that both have the same weights."""
    if second.is_untrained:
        st.caption(HOW_UNTRAINED.format(first=plain(first.name)))
        return
    reports = [side.bert.report for side in (first, second)]
    prints = {None if report is None else report.fingerprint for report in reports}
    if len(prints) == 1 and (fingerprint := prints.pop()) is not None:
        st.info(SAME_WEIGHTS.format(fingerprint=fingerprint[:12]))
    if limitations := cache.computed(limits, first.key, second.key):
        st.warning("\n\n".join(map(plain, limitations)))


NO_WORD = "The text has no word to tag. Write one in sentence A."
BORROWED_HEAD = (
    "**{borrower} has no head for this question**, so the head of {owner} reads its encoder too: "
    "the difference is what the encoder learned."
)
OTHER_ANSWERS = (
    "The two choose from different answers, so bars are side by side only where the names match."
)
NUMBERED_LABELS = (
    "Both use numbers as labels. Bars with the same number are side by side, but only whoever "
    "trained the two knows whether it means the same in both."
)
NEEDS_B = (
    "{name} was fine-tuned on pairs, but here is only one text, so its answer means little. Write "
    "the second text (for a question: the text to search) as sentence B."
)


def given(result: Any) -> Callable[..., Any]:
    """Return what `show` computes with where the page has the result."""
    return lambda *_, **__: result


@frame.fragment
def show_answers(case: Case) -> None:
    """Draw the answers to one question, and in which layer they appear if that is opened."""
    unread = (side.decisions.no_task for side in case.sides if side.has_head)
    for reason in dict.fromkeys(filter(None, unread)):
        st.info(plain(_sentence(reason)))
    if not case.comparison.answers:
        st.info(
            own_markdown(plain(_sentence(NO_QUESTION)), marks_of(case.first.bert.tokenizer)) + "."
        )
        return
    st.header(views.ANSWERS.question, anchor=False)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    kinds = [question.kind for question, _, _ in case.comparison.answers]
    kind: str = row.selectbox(
        "Question",
        kinds,
        format_func=KINDS.__getitem__,
        key=QUESTION.key(default=kinds[0], options=kinds),
        width=250,
    )
    places = [shorten(place.name, 30) for place in case.comparison.places(kind)]
    if not places:
        st.info(NO_WORD)
        return
    place = 0
    if len(places) > 1:
        numbers = list(range(len(places)))
        label, key = PLACE_NAMES.get(kind, "Token"), PLACE.key(options=numbers)
        place = row.selectbox(label, numbers, format_func=places.__getitem__, key=key, width=170)
    compared = case.comparison.compared(kind, place)
    arguments = (case.second, *case.page.texts, kind, place)
    drawn = {"called": case.names, "is_score": kind == "score"}
    options: dict[str, Any] = {"setup": case.setup, "compute": given(compared)}
    show(views.ANSWERS, case.page, *arguments, drawn=drawn, **options)
    _note_heads(case, kind)
    if kind == "tag":
        _show_tags(case)
    show_by_layer(case, kind, place)


@frame.closed(views.LAYERS.question, OPENED, at="layers")
def show_by_layer(case: Case, kind: str, place: int) -> None:
    """Draw the answer as each layer gives it."""
    compared = case.comparison.compared(kind, place)
    drawn: dict[str, Any] = {"called": dict(zip(views.NAMES, case.names, strict=True))}
    drawn |= {"form": ".3~g", "y_title": "score"} if kind == "score" else {}
    arguments = (case.second, *case.page.texts, kind, place)
    _note_settled(case, compared)
    show(
        views.LAYERS, case.page, *arguments, drawn=drawn, setup=case.setup, compute=given(compared)
    )


def _note_heads(case: Case, kind: str) -> None:
    """State whose head is read, and what one of the two lacks."""
    question, both = case.comparison.asked(kind)
    if question.borrower is not None:
        borrower, owner = case.names[question.borrower], case.names[1 - question.borrower]
        st.info(BORROWED_HEAD.format(borrower=plain(borrower), owner=plain(owner)))
    elif None in both:
        lacking = case.sides[both.index(None)]
        reason = lacking.decisions.no_task if kind != "next" else ""
        st.info(
            f"**{plain(lacking.name)} does not answer this question.** {plain(_sentence(reason))}"
        )
    elif not question.same_answers and kind not in ("span", "labels"):
        st.caption(OTHER_ANSWERS)
    elif kind == "class" and all(
        name.removeprefix("LABEL_").isdecimal() for side in both if side for name in side.names
    ):
        st.caption(NUMBERED_LABELS)
    if case.page.text_b is None and kind in ("class", "labels", "span"):
        for side in case.sides:
            if side.wants_pair:
                st.warning(NEEDS_B.format(name=plain(side.name)))


def _sentence(reason: str) -> str:
    return reason[:1].upper() + reason[1:]


def _note_settled(case: Case, compared: ComparedAnswers) -> None:
    """State what each decides, and from which layer on."""
    parts = []
    for which, name in zip(("first", "second"), case.names, strict=True):
        layers = [row for row in compared.layers if row.checkpoint == which]
        if not layers or layers[-1].settled is None:
            continue
        final, last = layers[-1].answer[:40], layers[-1]
        decision = plain(label_name(final) if compared.kind == "class" else final)
        if compared.kind == "labels":
            decision = f"{plain(label_name(compared.place))}: {decision}"
        ends = {0: "from the input on", last.state: "only after the last layer"}
        when = ends.get(last.settled or 0, f"for good {last.settled_after}")
        parts.append(f"**{plain(name)}** decides **{decision}** {when}")
    if parts:
        st.markdown("; ".join(parts) + ".")


def _show_tags(case: Case) -> None:
    """Draw the tags of all tokens as a table, those that differ first."""
    _, both = case.comparison.asked("tag")
    places = case.comparison.places("tag")
    table = pd.DataFrame({"token": [shorten(place.name, 30) for place in places]})
    for which, side in enumerate(both):
        at = [place.both[which] for place in places]
        table[f"tag_{which}"] = None if side is None else np.array(side.final)[at]
        table[f"p_{which}"] = None if side is None else side.probabilities[-1, at].max(-1)
    is_same = (table["tag_0"] == table["tag_1"]) | (None in both)
    table = table.loc[is_same.sort_values(kind="stable").index]
    percentage = st.column_config.NumberColumn("probability", format="percent")
    columns: dict[str, Any] = {f"tag_{which}": name for which, name in enumerate(case.names)}
    columns |= {"p_0": percentage, "p_1": percentage}
    height = min(38 + 35 * len(table), 360)
    st.dataframe(table, hide_index=True, height=height, column_config=columns)
    st.caption("A word has the tag of its first piece.")


NO_HEADS = (
    "The two have different numbers of layers or heads, so no head of one corresponds to a head of "
    "the other. *Which layers are alike, over many texts?* can still compare them."
)
MERGED_WORDS = (
    "The two tokenize this text differently, so words are compared: vectors as the mean over a "
    "word's pieces, attention and attribution as their sum."
)


@frame.closed(views.HEADS.question, OPENED, at="heads")
def show_heads(case: Case) -> None:
    """Draw the grid of heads and the open head of both."""
    change = case.comparison.divergence
    if change is None:
        st.info(NO_HEADS)
        return
    names = [f"{layer}.{head}" for layer, head in np.ndindex(*change.shape)]
    HEAD.key(options=[MOST_CHANGED, *names])
    most_changed = names[int(np.nan_to_num(change).argmax())]
    layer, head = parse_head(most_changed if HEAD.value == MOST_CHANGED else HEAD.value)
    show(
        views.HEADS,
        case.page,
        case.second,
        *case.page.texts,
        drawn={"opened": (layer, head)},
        setup=case.setup,
        compute=given(change),
        on_select=HEAD.put,
    )
    if not case.comparison.units.are_tokens:
        st.caption(MERGED_WORDS)
    bits = float(change[layer, head])
    st.subheader(f"Layer {layer} head {head} in both: {bits:.3f} bits apart", anchor=False)
    row = st.container(horizontal=True, key="compare_maps")
    traces = case.traces
    both = HeadInBoth.of(traces, layer, head)
    for which, name, trace in zip(("first", "second"), case.names, traces, strict=True):
        key, title = f"compare_map_{which}", f"{name}: layer {layer} head {head}"
        shown = replace(attention_map(trace, [layer], [head]), title=title)
        options, revision = kept_options(MAP_OPTIONS, heat_map), last_revision(key)
        with row.container():
            heat_map.COMPONENT(
                heat_map.message(shown, revision, options),
                key=key,
                selection=_open_head,
                look=partial(keep_options, MAP_OPTIONS, heat_map),
            )
    arguments = (case.second, *case.page.texts, layer, head)
    offer(views.ONE_HEAD, case.page, both, *arguments, setup=case.setup)


def _open_head(chosen: heat_map.Selection) -> None:
    """Open the head that was chosen in a map; a mean of several has no place on this page."""
    if chosen["layers"] and chosen["heads"]:
        HEAD.put(f"{chosen['layers'][-1]}.{chosen['heads'][-1]}")


NOT_FINITE = (
    "NaN or infinity in {count}: {names}. Such a drift is not a number, and its cell is empty."
)


@frame.closed(views.WEIGHTS.question, OPENED, at="weights")
def show_weights(case: Case) -> None:
    """Draw the drift of all weights."""
    drift = computed(views.WEIGHTS, case.page, case.second)
    if drift.layers:
        show(views.WEIGHTS, case.page, case.second, setup=case.setup)
    else:
        st.info("No layer has matrices of the same shape in both, so no drift can be drawn.")
    if drift.others:
        st.subheader(views.OTHERS.question, anchor=False)
        show(views.OTHERS, case.page, case.second, setup=case.setup)
    _note_left_out(case, drift)


def _note_left_out(case: Case, drift: WeightDrift) -> None:
    """State which tensors are not numbers, missing, or of other shapes."""
    if drift.not_finite:
        names = _listed([plain(name) for name in drift.not_finite], 3)
        number = len(drift.not_finite)
        count = f"{number:,} tensor{'s' * (number > 1)}"
        st.error(NOT_FINITE.format(count=count, names=names))
    for name, tensors in zip(case.names, (drift.only_first, drift.only_second), strict=True):
        if tensors:
            places = dict.fromkeys(map(part_of, tensors))
            parts = [part if layer is None else f"layer {layer}" for layer, part in places]
            st.caption(f"Only {plain(name)} has: {plain(_listed([*dict.fromkeys(parts)], 8))}.")
    if drift.mis_shaped:
        names = _listed([plain(name) for name in drift.mis_shaped], 3)
        st.caption(f"Of other shapes, and not compared: {names}.")


def _listed(names: list[str], most: int) -> str:
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


@frame.closed(views.CKA.question, OPENED, head_texts.SOURCE, at="texts")
def show_layers(case: Case) -> None:
    """Draw the similarity of layers over many texts."""
    source = head_texts.choose()
    if source is None:
        return
    arguments = case.second, tuple(source.texts.sentences)
    compute = Compute(name="compare", stopped="The comparison was stopped.")
    compared = computed(views.CKA, case.page, *arguments, compute=compute)
    if compared.num_left_out:
        st.caption(
            f"{compared.num_left_out:,} texts are left out: at most {compared.num_sentences:,} "
            "are compared."
        )
    if compared.num_cut:
        st.caption(
            f"{compared.num_cut:,} texts are longer than a checkpoint can read and were cut."
        )
    options: dict[str, Any] = {
        "setup": case.setup + source.setup,
        "spelled": {"sentences": "texts.sentences"},
        "compute": given(compared),
        "with_caption": False,
    }
    titles = tuple(f"{AFTER_LAYER}, {theme.escape(name)}" for name in case.names)
    pair = st.container(horizontal=True, key="compare_cka_pair")
    with pair.container():
        show(views.CKA, case.page, *arguments, drawn={"titles": titles}, **options)
    height = views.CKA.draw(compared).height
    with pair.container():
        show(views.CKA_DIAGONAL, case.page, *arguments, drawn={"height": height}, **options)
    caption(views.CKA, compared)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    text_a, text_b = hidden.written(page.encoding, page.masked, page.texts)
    page = replace(page, text_a=text_a, text_b=text_b, masked=())
    first, second = choose(page)
    case = Case(replace(page, bert_key=first.key, has_text=False), first, second)
    for part in (show_answers, show_heads, show_weights, show_layers):
        part(case)
