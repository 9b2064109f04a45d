"""Training example: a document, a pair, hidden pieces, guesses and losses."""

import math
from typing import Any

import streamlit as st

from bertcore.analysis.compare.phases import TwoPhases
from bertcore.analysis.words.documents import DOCUMENTS
from bertcore.analysis.words.training_example import TrainingExample
from bertcore.model.checkpoints.source import DEFAULT
from bertcore.training.tasks import SpanAnswers

from ...plots import own_markdown, percent, plain, shorten_middle
from ...plots.source_tables import markdown_table
from ...shell import (
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
from ...shell.links import PHASES_OPEN
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
MOST_GUESSES, LONGEST_READ = 3, 120
"""Guesses that are told beside those of another network, and letters of what both read."""
FATES = (
    ("**\\[MASK\\]**", "to predict a word from the words around it"),
    ("**kept**", "that a word it sees is often right: fine-tuning has no \\[MASK\\]"),
    ("a **random** piece", "that no word can be trusted, so that the words around it are read"),
)
"""What a chosen piece becomes, and what BERT learns by it."""

FINE_TUNED = {"sentiment": "on reviews", "qa": "on questions"}
"""The fine-tuned checkpoints that may stand on the right, and what they learned from."""
HEADS = {"sentiment": "classifier", "qa": "vectors s and e"}
"""What each has in place of the heads of pretraining."""

DOCUMENT = Field("document", DOCUMENTS[0].text)
TUNED = Field("example_tuned", "sentiment", tuple(FINE_TUNED))
QUESTION = Field("example_question", "Who built the new bridge?")
SEED = Field("example_seed", 3)
PERCENTAGE = Field("example_share", 15, PERCENTAGES)
STEP = Field("example_step", False)
EPOCHS_OPEN = Field("example_epochs", False)
LOSS_OPEN, FATES_OPEN = Field("example_loss", False), Field("example_fates", False)
SHARES = Field("example_actions", "80/10/10", tuple(ACTIONS))


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard():
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
        drawing.COMPONENT(key="training_example", data=drawing.message(example, page.marks.mask))
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
    row = st.container(horizontal=True, vertical_alignment="bottom")
    tuned = one_of("Fine-tuned", FINE_TUNED, TUNED, where=row, with_label=True)
    question = row.text_input("Question", key=QUESTION.key()) if tuned == "qa" else ""
    if tuned == "qa" and not question.strip():
        st.info("Write a question about the document.")
        return
    arguments = (*drawn, DEFAULT, tuned, question)
    phases = computed(PHASES, None, *arguments)
    head = ("", "1 Pretraining", "2 Fine-tuning")
    st.markdown(markdown_table(head, phase_rows(phases)))
    show(PHASES, None, *arguments)


def phase_rows(phases: TwoPhases) -> list[tuple[str, str, str]]:
    """Return both networks from the answers down to the input, side by side, as Markdown."""
    example, answer = phases.example, phases.answer
    guesses = []
    if example.pair_probabilities is not None:
        place = int(example.pair_probabilities[1] > 0.5)
        told = f"{('B follows A', 'B is random')[place]} {percent(max(example.pair_probabilities))}"
        guesses.append(f"**{told}**" if place == int(example.is_random) else told)
    for guess in example.guesses[:MOST_GUESSES]:
        word, p = guess.best[0]
        told, is_right = f"{plain(word)} {percent(p)}", word == guess.token
        guesses.append(f"**{told}**" if is_right else f"{told} (is {plain(guess.token)})")
    if isinstance(answer, SpanAnswers):
        named = [(f"“{span.text}”", span.probability) for span in answer.spans[:MOST_GUESSES]]
        named.append(("no answer", answer.no_answer))
    else:
        named = list(zip(answer.labels, map(float, answer.probabilities), strict=True))
    best = max(p for _, p in named)
    shown = [f"{plain(name)} {percent(p)}" for name, p in named]
    answers = [
        f"**{said}**" if p == best else said for said, (_, p) in zip(shown, named, strict=True)
    ]
    read = plain(shorten_middle(" ".join(example.input_tokens), LONGEST_READ))
    return [
        ("answers", ", ".join(guesses), ", ".join(answers)),
        ("head", ", ".join(phases.heads), f"a new one: {HEADS[phases.finetuned]}"),
        *(
            (
                *(each.part, "trained from noise"),
                f"copied, then moved by {each.relative_change:.1%}"
                if each.relative_change
                else "copied, and kept as it was",
            )
            for each in reversed(phases.parts)
        ),
        ("input", read, plain(shorten_middle(" ".join(phases.tokens), LONGEST_READ))),
    ]


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
    text = st.text_area("Document", key=DOCUMENT.key(), height=90, max_chars=5000)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    SEED.key(low=0, high=LAST_SEED)
    draw_again(SEED, row, type="primary")
    with row.popover("Another document", icon=":material/article:"):
        for document in DOCUMENTS:
            st.button(
                document.title,
                key=f"document_{document.title}",
                on_click=DOCUMENT.put,
                args=(document.text,),
                width="stretch",
            )
    menu = frame.more(row)
    names = {percentage: f"{percentage}%" for percentage in PERCENTAGES}
    percentage = one_of("Chosen", names, PERCENTAGE, where=menu, with_label=True)
    label = "Of these, masked / kept / random"
    actions = one_of(label, list(ACTIONS), SHARES, where=menu, with_label=True)
    return text, SEED.value, percentage / 100, actions


@frame.closed("How do the costs become one number, the loss?", LOSS_OPEN)
def show_losses(example: TrainingExample, size: int) -> None:
    """Draw the two losses as formulas, with their numbers to add up; `size` is V."""
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


@frame.closed("Why is not every chosen word hidden?", FATES_OPEN)
def show_fates(page: frame.Page, actions: str) -> None:
    """State what each of the three fates is for."""
    rows = [
        (f"{share:.0%}", fate, lesson)
        for share, (fate, lesson) in zip(ACTIONS[actions], FATES, strict=True)
        if share
    ]
    head = ("of the chosen", "become", "so that BERT learns")
    st.markdown(own_markdown(markdown_table(head, rows), page.marks))
    st.caption(
        "After fine-tuning, the shares hardly matter: 80/10/10 and 100/0/0 both reach about 84% on "
        "MNLI (84.2 and 84.3). If BERT's vectors are used as they are, without fine-tuning, "
        "100/0/0 loses 0.9 points of F1 on named entities (94.9 and 94.0; Devlin et al. 2019, "
        "appendix C.2)."
    )
