"""Objectives: one text under each pretraining objective, and one of them in detail."""

from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.objectives.answers import (
    ObjectiveAnswer,
    objective_answer,
    shipped_for,
    why_no_answer,
)
from bertcore.analysis.objectives.demo import ObjectiveExample
from bertcore.analysis.words.continuation import continue_text
from bertcore.analysis.words.documents import DOCUMENTS
from bertcore.checkpoints.source import TOYS, read_toy
from bertcore.configs.data import MASKED_LM_PROB
from bertcore.objectives import OBJECTIVES, Objective
from bertcore.objectives.attention_masks import DIRECTIONS, Direction

from ..epoch_masks import EPOCHS
from ..plots import plain
from ..plots.source_tables import links, markdown_table
from ..shell import LAST_SEED, Field, computed, draw_again, frame, offer, one_of, show, sidebar
from . import PAGE, drawing
from .views import COUNTS, EQUAL_TIME, EXAMPLE, LOOKS, OVERVIEW, shares_of, who_looks

ALL = "all"
DRAWN = "drawn"
OTHERS = tuple(document.text for document in DOCUMENTS)
"""Documents from which a random B may be drawn."""
NUM_DRAWS = 1000
NUM_WRITTEN = 12  # tokens that a UniLM writes after the text

OBJECTIVE = Field("shown_objective", ALL, (ALL, *OBJECTIVES), url="objective")
SEED = Field("objective_seed", 20)
PERCENTAGE = Field("objective_share", 15)
DIRECTION = Field("objective_mask", DRAWN, (DRAWN, *DIRECTIONS))
LOOKER = Field("objective_looks", 0)

FIRST_TERM = (
    " It is the loss of the masked words; the other term needs SpanBERT's own head, which is not "
    "read here."
)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard():
        above = st.container()
        with above:
            name, seed = choose_objective()
        if name == ALL:
            show_all(page, seed)
        else:
            show_one(page, OBJECTIVES[name], seed, above)


def choose_objective() -> tuple[str, int]:
    """Draw the choice of an objective and of a draw; return both."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    names = {ALL: "All, side by side"}
    names |= {one: f"{entry.title} ({entry.model})" for one, entry in OBJECTIVES.items()}
    row.selectbox(
        "Objective",
        list(names),
        format_func=names.__getitem__,
        key=OBJECTIVE.key(),
        on_change=lambda: pick(OBJECTIVE.value),
        width=340,
    )
    name = OBJECTIVE.value
    if name != ALL:
        row.button("All, side by side", icon=":material/arrow_back:", on_click=pick, args=(ALL,))
    SEED.key(low=0, high=LAST_SEED)
    draw_again(SEED, row, type="primary")
    return name, SEED.value


def pick(name: str) -> None:
    """Choose an objective, with its paper's share."""
    OBJECTIVE.put(name)
    share = OBJECTIVES[name].share if name in OBJECTIVES else None
    if share is not None:
        PERCENTAGE.put(round(100 * share))


def show_all(page: frame.Page, seed: int) -> None:
    """Draw all objectives on the text, and the scores of training with each for the same time."""
    tried = computed(OVERVIEW, page, *page.texts, OTHERS, seed)
    rows = [
        drawing.shown(each.objective, each.example or frame.sentence_of(ValueError(each.reason)))
        for each in tried
    ]
    drawing.draw(drawing.message(rows, page.marks.mask, in_detail=False), on_pick=pick)
    offer(OVERVIEW, page, tried, *page.texts, OTHERS, seed, with_json=True)
    st.subheader(EQUAL_TIME.question, anchor=False)
    show(EQUAL_TIME, None)


def show_one(page: frame.Page, entry: Objective, seed: int, above: DeltaGenerator) -> None:
    """Draw one objective in detail.

    Args:
        above: What comes before the drawing, so that this stays in its place, and keeps the focus,
            while a checkpoint that answers is opened.
    """
    with above:
        st.header(entry.title, anchor=False)
        st.markdown(f"{entry.idea} *{plain(entry.model)}: {plain(entry.paper)}*")
        page = answering(page, entry)
        share, direction = choose(entry)
    choice: dict[str, Any] = {
        "others": OTHERS if entry.name == "next-sentence" else (),
        "seed": seed,
        "share": share,
        "direction": direction,
    }
    arguments = (entry.name, *page.texts, *choice.values())
    with frame.guard():
        try:
            example = computed(EXAMPLE, page, *arguments)
        except ValueError as reason:  # the text does not suit this objective
            st.info(plain(frame.sentence_of(reason)))
        else:
            show_example(page, entry, example, arguments)
            show_counts(page, entry, choice)
            if entry.name == "masked-words" and "mlm" in page.bert.capabilities:
                st.subheader(EPOCHS.question, anchor=False)
                text = f"{page.text_a} {page.text_b or ''}"
                show(EPOCHS, page, text, seed, share or MASKED_LM_PROB)
    st.subheader("The loss", anchor=False)
    st.latex(entry.formula)
    st.caption(entry.symbols)
    st.subheader("Common misconceptions", anchor=False)
    rows = [(claim.told, claim.true, links(claim.source)) for claim in entry.wrong]
    st.markdown(markdown_table(("Claim", "Fact", "Source"), rows))


def answering(page: frame.Page, entry: Objective) -> frame.Page:
    """Return the page with a checkpoint that has an answer: its own, else a shipped one."""
    reason = why_no_answer(page.bert, entry.name)
    name = shipped_for(entry.name)
    if reason is None or name is None:
        return page
    mark = ""
    if name in TOYS:
        toy = read_toy(name)
        mark = (
            f", **a toy** that trained for {toy.steps:,} steps. Correct on held-out text: "
            f"{toy.accuracy:.1%} of {toy.fraction_of}; {toy.guessing:.1%} by guessing "
            f"({plain(toy.guess)})"
        )
    own = plain(sidebar.brief_name(page.bert_key.source))
    st.info(
        f"**{name}** reads and answers here{mark}. {own} has no answer: "
        f"{plain(frame.sentence_of(ValueError(reason)))}"
    )
    return replace(page, bert_key=sidebar.key_of(name))


def choose(entry: Objective) -> tuple[float | None, Direction | None]:
    """Draw the controls of an objective; return the share, None for the paper's, and the mask."""
    share, direction = None, None
    row = st.container(horizontal=True, vertical_alignment="bottom")
    if entry.share is not None:
        usual = round(100 * entry.share)
        key = PERCENTAGE.key(default=usual, low=1, high=99)
        percentage = row.slider("Hidden", 1, 99, format="%d%%", key=key, width=300)
        share = None if percentage == usual else percentage / 100
    if entry.name == "unilm":
        chosen = one_of("Mask", (DRAWN, *DIRECTIONS), DIRECTION, where=row, with_label=True)
        direction = next((one for one in DIRECTIONS if one == chosen), None)
    return share, direction


def show_example(
    page: frame.Page, entry: Objective, example: ObjectiveExample, arguments: tuple[Any, ...]
) -> None:
    """Draw what goes in and comes out, the checkpoint's answer, and the attention mask."""
    reason = why_no_answer(page.bert, entry.name)
    answer: ObjectiveAnswer | None = None
    if reason is None:
        choice = dict(zip(("others", "seed", "share", "direction"), arguments[3:], strict=True))
        answer = page.compute(objective_answer, entry.name, *page.texts, **choice)
    shown = drawing.shown(entry.name, example, answer)
    drawing.draw(drawing.message([shown], page.marks.mask, in_detail=True))
    for ends in example.ends:
        span = " ".join(ends.span)
        st.markdown(
            f"From both ends: **{plain(ends.left)}** … **{plain(ends.right)}** → {plain(span)}"
        )
    if example.direction and arguments[-1] is None:
        st.markdown(f"Mask drawn: **{example.direction}**.")
    for note in example.notes:
        st.caption(plain(note))
    if answer is None:
        st.caption(f"**No answer.** {plain(frame.sentence_of(ValueError(reason)))}")
    elif answer.places:
        term = FIRST_TERM if example.ends else ""
        st.markdown(
            f"This checkpoint's mean loss here is **{answer.loss:.2f}** nats, over "
            f"{len(answer.places)} place{'s' if len(answer.places) > 1 else ''}.{term}"
        )
        if entry.name == "unilm":
            show_writing(page)
    offer(EXAMPLE, page, example, *arguments, with_json=True)
    st.subheader(LOOKS.question, anchor=False)
    names = {number: looks.name for number, looks in enumerate(example.looks)}
    number = one_of("Attention", names, LOOKER) if len(names) > 1 else 0
    who = who_looks(example.looks[number])
    show(LOOKS, page, *arguments, drawn={"number": number}, looks=who)


def show_writing(page: frame.Page) -> None:
    """Write what a UniLM adds to the text under its left-to-right mask."""
    try:
        written = page.compute(continue_text, page.text_a, NUM_WRITTEN).text
    except ValueError as reason:
        st.caption(plain(frame.sentence_of(reason)))
    else:
        st.markdown(f"It also writes. From left to right, text A goes on: **{plain(written)}**")


def show_counts(page: frame.Page, entry: Objective, choice: dict[str, Any]) -> None:
    """Draw what 1,000 draws give, beside the paper's shares."""
    if not entry.rates:
        return
    st.subheader(COUNTS.question, anchor=False)
    arguments = (
        entry.name,
        *page.texts,
        choice["others"],
        choice["share"],
        NUM_DRAWS,
        choice["seed"],
    )
    counts = computed(COUNTS, page, *arguments)
    for rate in counts.rates:
        if rate.unit:
            early = " In a short text, spans end early." if rate.high < rate.expected else ""
            note = f" ({rate.note})" if rate.note else ""
            st.markdown(
                f"{plain(rate.name).capitalize()}: **{rate.mean:.2f}** ({rate.low:.2f} to "
                f"{rate.high:.2f}); the paper: **{rate.expected:.1f}**{note}.{early}"
            )
    if shares_of(counts):
        show(COUNTS, page, *arguments, drawn={"marks": page.marks})
