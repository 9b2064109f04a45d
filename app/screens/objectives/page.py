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
from bertcore.analysis.words.documents import DOCUMENTS
from bertcore.lessons.papers import read_papers
from bertcore.model.architecture.objectives import MASKED_LM_PROB
from bertcore.model.checkpoints.source import TOYS, read_toy
from bertcore.model.objectives import OBJECTIVES, Objective
from bertcore.model.objectives.attention_masks import DIRECTIONS, Direction

from ...plots import plain
from ...plots.source_tables import links, markdown_table
from ...shell import LAST_SEED, Field, computed, draw_again, frame, offer, one_of, show, sidebar
from ...sources.epoch_masks import EPOCHS
from . import PAGE, drawing
from .views import COUNTS, EQUAL_TIME, EXAMPLE, LOOKS, OVERVIEW, who_looks

ALL = "all"
DRAWN = "drawn"
OTHERS = tuple(document.text for document in DOCUMENTS)
"""Documents from which a random B may be drawn."""
NUM_DRAWS = 1000

OBJECTIVE = Field("shown_objective", ALL, (ALL, *OBJECTIVES), url="objective")
SEED = Field("objective_seed", 20)
PERCENTAGE = Field("objective_share", 15)
DIRECTION = Field("objective_mask", DRAWN, (DRAWN, *DIRECTIONS))
LOOKER = Field("objective_looks", 0)
SCORE = Field("equal_time_score", "Masked words: loss")
OPENED: Field[list[str]] = Field(
    "objective_open", [], ("equal-time", "counts", "epochs", "loss", "claims")
)
"""Headings that are open."""

_DRAWN_ONLY = "It is drawn only: no checkpoint that ships answers it, as its toy only guessed."
FIRST_TERM = (
    " It is the loss of the masked words; the other term needs SpanBERT's own head, which is not "
    "read here."
)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE, as_typed=True)
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
    drawing.draw(rows, page.marks.mask, pick)
    offer(OVERVIEW, page, tried, *page.texts, OTHERS, seed, with_json=True)
    show_equal_time()


@frame.closed(EQUAL_TIME.question, OPENED, SCORE, at="equal-time")
def show_equal_time() -> None:
    """Draw a score of training with each objective for the same time."""
    units = {score.score: score.unit for score in computed(EQUAL_TIME, None).scores}
    score = st.selectbox("Score", list(units), key=SCORE.key(options=list(units)), width=340)
    show(EQUAL_TIME, None, drawn={"only": {"score": score}, "x_title": units[score]})


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
    others = OTHERS if entry.name == "next-sentence" else ()
    arguments = (entry.name, *page.texts, others, seed, share, direction)
    with frame.guard():
        try:
            example = computed(EXAMPLE, page, *arguments)
        except ValueError as reason:  # the text does not suit this objective
            st.info(frame.message(reason))
        else:
            show_example(page, entry, example, arguments)
            if entry.rates:
                show_counts(page, entry.name, *page.texts, others, share, NUM_DRAWS, seed)
            if entry.name == "masked-words" and "mlm" in page.bert.capabilities:
                show_epochs(page, seed, share or MASKED_LM_PROB)
    show_loss(entry)
    show_claims(entry)


@frame.closed(EPOCHS.question, OPENED, at="epochs")
def show_epochs(page: frame.Page, seed: int, share: float) -> None:
    """Draw static and dynamic masks of the text."""
    show(EPOCHS, page, f"{page.text_a} {page.text_b or ''}", seed, share)


@frame.closed("What is the loss?", OPENED, at="loss")
def show_loss(entry: Objective) -> None:
    """Draw the formula."""
    st.latex(entry.formula)
    st.caption(entry.symbols)


@frame.closed("What is often said wrongly?", OPENED, at="claims")
def show_claims(entry: Objective) -> None:
    """Draw claims about the objective beside the facts."""
    rows = [
        (claim.told, claim.true, links(claim.source))
        for claim in read_papers().claims_about(entry.name)
    ]
    st.markdown(markdown_table(("Claim", "Fact", "Source"), rows))


def answering(page: frame.Page, entry: Objective) -> frame.Page:
    """Return the page with a checkpoint that has an answer: its own, else a shipped one."""
    own, name = page.bert_key.source, shipped_for(entry.name)
    if why_no_answer(page.bert, entry.name) is None:
        name = own
    if name is None or (name == own and name not in TOYS):
        return page
    told = f"**{plain(name)}** reads and answers here"
    if name in TOYS:
        toy = read_toy(name)
        told += (
            f", **a toy** that trained for {toy.steps:,} steps. Correct on held-out text: "
            f"{toy.accuracy:.1%} of {toy.fraction_of}; {toy.guessing:.1%} by guessing "
            f"({plain(toy.guess)})"
        )
        if toy.is_near_guessing:
            told += ". **That is hardly better than guessing**: see what is asked, not how well"
    if name != own:
        told += f". {plain(sidebar.brief_name(own))} has no answer of its own"
    st.info(f"{told}.")
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
    drawing.draw([drawing.shown(entry.name, example, answer)], page.marks.mask)
    for ends in example.ends:
        span = " ".join(ends.span)
        st.markdown(
            f"From both ends: **{plain(ends.left)}** … **{plain(ends.right)}** → {plain(span)}"
        )
    if example.direction and arguments[-1] is None:
        st.markdown(f"Mask drawn: **{example.direction}**.")
    for note in example.notes:
        st.caption(plain(note))
    if reason is not None:
        drawn = f"{_DRAWN_ONLY} " if entry.name == "sentence-order" else ""
        st.caption(f"**No answer.** {drawn}{frame.message(reason)}")
    elif answer is not None and answer.places:
        term = FIRST_TERM if example.ends else ""
        st.markdown(
            f"This checkpoint's mean loss here is **{answer.loss:.2f}** nats, over "
            f"{len(answer.places)} place{'s' if len(answer.places) > 1 else ''}.{term}"
        )
    offer(EXAMPLE, page, example, *arguments, with_json=True)
    st.subheader(LOOKS.question, anchor=False)
    names = {number: looks.name for number, looks in enumerate(example.looks)}
    number = one_of("Attention", names, LOOKER) if len(names) > 1 else 0
    who = who_looks(example.looks[number])
    show(LOOKS, page, *arguments, drawn={"number": number}, looks=who)


@frame.closed(COUNTS.question, OPENED, at="counts")
def show_counts(page: frame.Page, *arguments: Any) -> None:
    """Draw what 1,000 draws give, beside the paper's shares."""
    counts = computed(COUNTS, page, *arguments)
    for rate in counts.rates:
        if rate.unit:
            early = " In a short text, spans end early." if rate.high < rate.expected else ""
            note = f" ({rate.note})" if rate.note else ""
            st.markdown(
                f"{plain(rate.name).capitalize()}: **{rate.mean:.2f}** ({rate.low:.2f} to "
                f"{rate.high:.2f}); the paper: **{rate.expected:.1f}**{note}.{early}"
            )
    if any(not rate.unit for rate in counts.rates):
        show(COUNTS, page, *arguments)
