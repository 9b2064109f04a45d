"""Training example: a document, a pair, hidden pieces, guesses and losses."""

import math
from typing import Any

import streamlit as st

from bertcore.analysis.words.documents import DOCUMENTS
from bertcore.analysis.words.training_example import TrainingExample

from ..plots import own_markdown, plain
from ..shell import (
    LAST_SEED,
    Field,
    computed,
    draw_again,
    frame,
    is_available,
    offer,
    one_of,
    show,
)
from ..shell.links import PHASES_OPEN
from . import PAGE, drawing
from .views import EPOCHS, EXAMPLE, MOVED, MOVED_OTHERS, ONE_STEP, PHASES

PERCENTAGES = (15, 30, 50)
ACTIONS = {
    "80/10/10": (0.8, 0.1, 0.1),
    "100/0/0": (1.0, 0.0, 0.0),
    "80/0/20": (0.8, 0.0, 0.2),
    "80/20/0": (0.8, 0.2, 0.0),
    "0/20/80": (0.0, 0.2, 0.8),
}
"""Shares of [MASK], kept and random that BERT's paper compares (appendix C.2)."""
FATES = (
    ("**\\[MASK\\]**", "to predict a word from the words around it"),
    ("**kept**", "that a word it sees is often right: fine-tuning has no \\[MASK\\]"),
    ("a **random** piece", "that no word can be trusted, so that the words around it are read"),
)
"""What a chosen piece becomes, and what BERT learns by it."""

DOCUMENT = Field("document", DOCUMENTS[0].text)
SEED = Field("example_seed", 3)
PERCENTAGE = Field("example_share", 15, PERCENTAGES)
STEP = Field("example_step", False)
EPOCHS_OPEN = Field("example_epochs", False)
SHARES = Field("example_actions", "80/10/10", tuple(ACTIONS))


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard():
        show_example(page)


def show_example(page: frame.Page) -> None:
    """Draw everything about one draw from a document."""
    if not is_available(EXAMPLE, page):
        return
    text, seed, share, actions = choose()
    if not text.strip():
        st.info("The document is empty. Write some sentences, or choose another document.")
        return
    note_unknown(page, text)
    masking = (seed, share, ACTIONS[actions])
    drawn = (text, (), *masking)
    example = computed(EXAMPLE, page, *drawn)
    message = drawing.message(example, page.marks.mask)
    drawing.COMPONENT(key="training_example", data=message)
    offer(EXAMPLE, page, example, *drawn, with_json=True)
    show_losses(example, page.bert.config.vocab_size)
    show_fates(page, actions)
    if "parts" in page.bert.capabilities:
        show_step(page, drawn)
    show_epochs(page, text, *masking)
    show_phases(drawn)


@frame.closed(ONE_STEP.question, STEP)
def show_step(page: frame.Page, drawn: tuple[Any, ...]) -> None:
    """Draw what one optimizer step on this example does to the answers to it, and to the weights.

    Args:
        drawn: Arguments of `training_example`, as below.
    """
    show(ONE_STEP, page, *drawn)
    st.subheader(MOVED.question, anchor=False)
    show(MOVED, page, *drawn)
    show(MOVED_OTHERS, page, *drawn)


@frame.closed(EPOCHS.question, EPOCHS_OPEN)
def show_epochs(page: frame.Page, *drawn: Any) -> None:
    """Draw static and dynamic masks of the document."""
    show(EPOCHS, page, *drawn)


@frame.closed(PHASES.question, PHASES_OPEN)
def show_phases(drawn: tuple[Any, ...]) -> None:
    """Draw the shipped pretrained checkpoint on the example, beside one that began as its copy."""
    show(PHASES, None, *drawn)


def note_unknown(page: frame.Page, text: str) -> None:
    """Warn if the vocabulary has no pieces for most of the document."""
    tokenizer = page.bert.tokenizer
    (ids,) = tokenizer.encode_ids([text])
    number = ids.count(tokenizer.unk_id)
    if number > len(ids) / 2:
        st.warning(
            f"{number} of {len(ids)} tokens are {plain(tokenizer.unk_token)}: the vocabulary of "
            "this checkpoint cannot read the document, so the guesses are of unknown words."
        )


def choose() -> tuple[str, int, float, str]:
    """Draw the document and the draw; return text, seed, share and the name of the actions."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    text = row.text_area("Document", key=DOCUMENT.key(), height=90, max_chars=5000)
    with row.popover("Another document", icon=":material/article:"):
        for document in DOCUMENTS:
            st.button(
                document.title,
                key=f"document_{document.title}",
                on_click=DOCUMENT.put,
                args=(document.text,),
                width="stretch",
            )
    row = st.container(horizontal=True, vertical_alignment="bottom")
    SEED.key(low=0, high=LAST_SEED)
    draw_again(SEED, row, type="primary")
    names = {percentage: f"{percentage}%" for percentage in PERCENTAGES}
    percentage = one_of("Chosen", names, PERCENTAGE, where=row, with_label=True)
    actions = one_of(
        "Of these, masked / kept / random",
        list(ACTIONS),
        SHARES,
        where=row,
        with_label=True,
    )
    return text, SEED.value, percentage / 100, actions


def show_losses(example: TrainingExample, size: int) -> None:
    """Draw the two losses as formulas, with their numbers to add up; `size` is V."""
    st.header("The loss", anchor=False)
    costs = [f"{guess.loss:.3f}" for guess in example.guesses]
    shown = " + ".join(costs if len(costs) <= 8 else [*costs[:7], r"\ldots"])
    st.latex(
        r"L_{\mathrm{words}} = -\frac{1}{|M|}\sum_{i \in M} \ln p(x_i \mid \tilde x)"
        # A strut: Streamlit cuts the top of a formula off.
        rf" = \frac{{\rule{{0pt}}{{2.4ex}}{shown}}}{{{len(costs)}}} \approx {example.mlm_loss:.3f}"
    )
    if example.nsp_loss is None:
        return
    answer = "random" if example.is_random else "follows"
    st.latex(
        r"L_{\mathrm{pair}} = -\ln p(\mathrm{" + answer + r"} \mid h_1)"
        rf" \approx {example.nsp_loss:.3f}"
    )
    st.latex(
        r"L = L_{\mathrm{words}} + L_{\mathrm{pair}}"
        rf" \approx {example.mlm_loss:.3f} + {example.nsp_loss:.3f}"
        rf" \approx {example.loss:.3f}"
        r"\ \mathrm{nats}"
    )
    st.caption(
        "M is the set of chosen places, x the right pieces, x̃ what BERT reads, h₁ the pooled "
        f"vector of the first token. A model that knows nothing pays ln V = ln {size:,} = "
        f"{math.log(size):.2f} nats for a word, and ln 2 = {math.log(2):.2f} for the pair."
    )


def show_fates(page: frame.Page, actions: str) -> None:
    """State what each of the three fates is for."""
    st.header("Why three fates?", anchor=False)
    rows = [
        f"| {share:.0%} | {fate} | {lesson} |"
        for share, (fate, lesson) in zip(ACTIONS[actions], FATES, strict=True)
        if share
    ]
    head = "| of the chosen | become | so that BERT learns |\n|---|---|---|"
    st.markdown(own_markdown("\n".join([head, *rows]), page.marks))
    st.caption(
        "After fine-tuning, the shares hardly matter: 80/10/10 and 100/0/0 both reach about 84% on "
        "MNLI (84.2 and 84.3). If BERT's vectors are used as they are, without fine-tuning, "
        "100/0/0 loses 0.9 points of F1 on named entities (94.9 and 94.0; Devlin et al. 2019, "
        "appendix C.2)."
    )
