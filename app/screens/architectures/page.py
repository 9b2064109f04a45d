"""BERT, GPT, ELMo: who sees whom, what leaks, what they write, positions, and a table."""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from bertcore import Model, Trace
from bertcore.analysis.words.continuation import is_unilm
from bertcore.analysis.words.leakage import Paths
from bertcore.analysis.words.readings import ApartReading, Reading, Sights, why_not_both_sides
from bertcore.analysis.words.surprise import example_mask
from bertcore.lessons.papers import read_papers
from bertcore.model.checkpoints.source import CAUSAL, DEFAULT, SHIPPED

from ...plots import plain, shorten
from ...plots.source_tables import contrasts
from ...shell import (
    LAST_SEED,
    Compute,
    Field,
    cache,
    computed,
    draw_again,
    frame,
    is_available,
    offer,
    one_of,
    show,
    sidebar,
)
from ...shell.links import MASKED
from . import PAGE, drawing, views, writing

AT_ONCE = 40  # most tokens of a text that is measured within the page's run; a longer one is queued
MOST_TOKENS = 20
_LONGEST_NAME = 28
RULES = {
    views.BERT: "Both sides, in every layer",
    views.GPT: "Only the left side, in every layer",
    views.ELMO: "Left and right separately, joined at the end",
}
LEAKS, WRITES, POSITIONS, TABLE = VIEWS = (
    "Why words are hidden",
    "Let it write",
    "Positions",
    "Side by side",
)
OPENED: Field[list[str]] = Field("architectures_view", [], VIEWS)
"""Headings that are open."""
PLACE = Field("architecture_token", 0, url="word")
"""Place of the guessed token among the tokens of the reader of both sides; 0 for an example."""
HALF, WHOLE = STARTS = ("its first half", "all of it")
START = Field("written_after", HALF, STARTS)
NUM = Field("written_tokens", 12)
TEMPERATURE = Field("temperature", 0.0)
SEED = Field("written_seed", 1)


@dataclass(frozen=True)
class Readers:
    """Both checkpoints; small and hashable."""

    page: frame.Page
    """Of masked words: the sidebar's checkpoint if it is one, else `default`."""
    left: cache.BertKey | None
    """Of next tokens: the sidebar's if it is one, else the shipped one; None if none ships."""

    @property
    def bert(self) -> Model:
        """The one that reads both sides."""
        return self.page.bert

    @property
    def trace(self) -> Trace:
        """Its run of the texts."""
        return self.page.trace

    @property
    def running_text(self) -> str:
        """The text, or a pair as the running text that `read_left` reads."""
        return " ".join(filter(None, self.page.texts))

    @property
    def python(self) -> dict[str, Any]:
        """Python that opens the second one, and its name there, for `show` and `offer`."""
        if self.left is None:
            return {}
        setup = f"twin = bertcore.load({self.left.source!r})\n"
        return {"setup": setup, "spelled": {"twin": "twin"}}


def readers_of(page: frame.Page) -> Readers:
    """Return the two checkpoints: the page's own in its role, a shipped one in the other."""
    is_both = why_not_both_sides(page.bert) is None
    left = page.bert_key if "next" in page.bert.capabilities else None
    if left is None and CAUSAL in SHIPPED:
        left = sidebar.key_of(CAUSAL)
    both = page.bert_key if is_both else sidebar.key_of(DEFAULT)
    return Readers(replace(page, bert_key=both), left)


def name_of(key: cache.BertKey) -> str:
    """Return what a checkpoint is called in a sentence; may contain any characters."""
    return shorten(sidebar.brief_name(key.source), _LONGEST_NAME)


# ---- who sees whom ----


def chosen_place(readers: Readers) -> int | None:
    """Return the token that is guessed: the visitor's, a [MASK], a hidden word, or an example.

    None if the text has no token.
    """
    trace, mask_id = readers.trace, readers.bert.tokenizer.mask_id
    places = [place for place, text in enumerate(trace.text_ids) if text >= 0]
    if not places:
        return None
    if PLACE.value in places:
        return int(PLACE.value)
    if mask_id in trace.input_ids:
        return trace.input_ids.index(mask_id)
    for place in MASKED.value:
        if place in places:
            return place
    return readers.page.compute(example_mask, *readers.page.texts)


def show_sights(readers: Readers, place: int) -> None:
    """Draw the three networks."""
    arguments = (*readers.page.texts, place, readers.left)
    sights, name = computed(views.SIGHTS, readers.page, *arguments), name_of(readers.page.bert_key)
    heading = drawing.Heading(views.BERT, RULES[views.BERT], f"Checkpoint: {name}")
    panels = [drawing.reading_panel(heading, sights.both, "both")]
    if isinstance(sights.left, Reading):
        note = f"The weights of {name} with later tokens hidden: not trained this way"
        if readers.left is not None:
            note = f"Checkpoint: {name_of(readers.left)}, trained on the next token"
        knows = sights.both.token is not None
        heading = drawing.Heading(views.GPT, RULES[views.GPT], note)
        panels.append(drawing.reading_panel(heading, sights.left, "left", knows_token=knows))
    if isinstance(sights.apart, ApartReading):
        note = (
            f"ELMo's rule applied to the weights of {name}, which were trained on both "
            "sides: not ELMo's LSTMs. The two guesses are multiplied."
        )
        heading = drawing.Heading(views.ELMO, RULES[views.ELMO], note)
        panels.append(drawing.apart_panel(heading, sights.apart))

    def pick(picked: drawing.PickedToken) -> None:
        token = same_token(readers, sights, panels[picked.panel]["name"], picked.token)
        if token is not None:
            PLACE.put(token)

    PLACE.key(default=0, low=0, high=len(readers.trace.tokens))
    drawing.draw(panels, key="architectures", on_pick=pick)
    for network, reading in ((views.GPT, sights.left), (views.ELMO, sights.apart)):
        if isinstance(reading, str):
            st.caption(f"**{network}** is not drawn. {frame.message(reading)}")
    offer(views.SIGHTS, readers.page, sights, *arguments, with_json=True, **readers.python)


def same_token(readers: Readers, sights: Sights, name: str, token: int) -> int | None:
    """Return the token of the reader of both sides at the same place of the text, or None."""
    trace = readers.trace
    if name == views.GPT and sights.is_twin and readers.left is not None:
        other = cache.trace(readers.left, readers.running_text, None)
        if not 0 <= token < other.num_tokens or other.text_ids[token] < 0:
            return None
        start = other.offsets[token][0]
        for place in range(trace.num_tokens):
            if trace.text_ids[place] >= 0:
                shift = (len(readers.page.text_a) + 1) * trace.text_ids[place]
                begin, end = trace.offsets[place]
                if begin + shift <= start < end + shift:
                    return place
        return None
    return token if 0 <= token < trace.num_tokens and trace.text_ids[token] >= 0 else None


# ---- why words are hidden ----


@frame.closed(views.LEAK.question, OPENED, at=LEAKS)
def show_leak(readers: Readers, place: int) -> None:
    """Draw a token's paths over two layers, how much of each token comes back, and how it helps."""
    page, trace = readers.page, readers.trace
    if chosen_place(readers) not in (place, None):
        st.rerun()  # a token was clicked here, and the picture above follows it
    if not is_available(views.LEAK, page):
        return
    arguments = (*page.texts, readers.left)
    compute = Compute(name="two-layers", stage="Zeroing values in two layers")
    how = cache.computed if trace.num_tokens <= AT_ONCE else compute
    returned = computed(views.LEAK, page, *arguments, compute=how)
    rule = "Each place reads both sides"
    panels = [paths_panel(views.BERT, rule, page.bert_key, returned.both, place, place)]
    left = returned.left
    if left is not None and readers.left is not None and place > 0:
        rule = "Each place reads the left; the one before it guesses"
        if left.tokens == returned.both.tokens:  # else it is another token there
            panels.append(paths_panel(views.GPT, rule, readers.left, left, place, place - 1))

    def pick(picked: drawing.PickedToken) -> None:
        if picked.panel == 0 and trace.text_ids[picked.token] >= 0:
            PLACE.put(picked.token)

    PLACE.key(default=0, low=0, high=len(trace.tokens))
    st.markdown(
        f"Where **{plain(trace.tokens[place])}** goes in layer 0, and what the vector "
        "that would guess it reads in layer 1."
    )
    drawing.draw(panels, key="paths", on_pick=pick)
    show(views.LEAK, page, *arguments, compute=how, drawn={"place": place}, **readers.python)


def paths_panel(
    name: str, rule: str, key: cache.BertKey, paths: Paths, place: int, reader: int
) -> dict[str, object]:
    """Return a panel of the paths of the word at a place, in one network."""
    share = float(paths.shares.back[reader] @ paths.shares.out[:, place])
    result = "Nothing comes back"
    if share >= views.LEAST:
        result = f"{share:.1%} of what it reads comes from the word itself"
    heading = drawing.Heading(name, rule, f"Checkpoint: {name_of(key)}")
    return drawing.paths_panel(heading, paths.tokens, paths.shares, place, reader, result)


# ---- let it write ----


@frame.closed(views.WRITTEN.question, OPENED, START, NUM, TEMPERATURE, SEED, at=WRITES)
def show_writing(readers: Readers) -> None:
    """Draw what both write after the text."""
    page, writer = replace(readers.page, text_b=None), views.GPT
    if not is_available(views.WRITTEN, page):
        return
    if is_unilm(readers.bert):
        readers, writer = replace(readers, left=page.bert_key), "UniLM"
        st.caption(
            "This UniLM writes in both ways: a \\[MASK\\] after the text is filled under its "
            "left-to-right mask, then the next one after it; and the row of masks is filled under "
            "the mask of both sides."
        )
    arguments = (*choose_writing(readers), readers.left)
    compute = Compute(name="let-it-write", stage="Writing")
    written = computed(views.WRITTEN, page, *arguments, compute=compute)
    left = "" if readers.left is None else f"{writer}: {name_of(readers.left)}"
    right = f"{views.BERT}: {name_of(page.bert_key)}"
    writing.COMPONENT(key="writing", data=writing.message(written, left, right))
    for name, text in ((writer, written.following), (views.BERT, written.masks)):
        if isinstance(text, str):
            st.caption(f"**{name}** writes nothing. {frame.message(text)}")
    if readers.left is None:
        st.info(
            "No next-token network is open. Choose one in the sidebar, such as GPT-2 or one made "
            "by `bertscope pretrain --objective causal` (or `unilm`)."
        )
    if not isinstance(written.masks, str):
        offer(views.WRITTEN, page, written, *arguments, with_json=True, **readers.python)


def choose_writing(readers: Readers) -> tuple[str, int, float, int]:
    """Draw the controls; return the text before, the number of tokens, temperature and seed."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    start = one_of("After the text:", STARTS, START, where=row, with_label=True)
    row.slider("Tokens", 1, MOST_TOKENS, key=NUM.key(low=1, high=MOST_TOKENS), width=160)
    temperature, seed = 0.0, 0
    if readers.left is not None:
        key = TEMPERATURE.key(low=0.0, high=2.0)
        help = "0: the most probable token each time. 1: drawn from the network's probabilities."
        row.slider("Temperature", 0.0, 2.0, step=0.1, key=key, width=160, help=help)
        temperature = round(TEMPERATURE.value, 1)
        SEED.key(low=0, high=LAST_SEED)
        if temperature:
            seed = SEED.value
            draw_again(SEED, row)
    text = readers.running_text
    return first_half(text) if start == HALF else text, NUM.value, temperature, seed


def first_half(text: str) -> str:
    """Return the first half of a text's words, at least one; letters if there are no spaces.

    >>> first_half("The old man sat on the mat."), first_half("one")
    ('The old man', 'one')
    """
    words = text.split()
    if len(words) > 1:
        return " ".join(words[: len(words) // 2])
    letters = text.strip()
    return letters[: len(letters) // 2] if len(letters) > 12 else letters


@frame.closed(views.POSITION_TABLES.question, OPENED, at=POSITIONS)
def show_positions(page: frame.Page) -> None:
    """Draw the learned positions beside the formula's."""
    show(views.POSITION_TABLES, page)
    show(views.POSITION_DISTANCES, page)


@frame.closed("How do the three differ, in a table?", OPENED, at=TABLE)
def show_table() -> None:
    """Draw the models beside each other."""
    with st.container(key="contrasts"):  # as wide as its columns need
        st.markdown(contrasts(read_papers()))


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE, as_typed=True)
    with frame.guard():
        show_readers(page)
    show_positions(page)
    show_table()


def show_readers(page: frame.Page) -> None:
    """Draw who sees whom, and the headings below that read the text."""
    readers = readers_of(page)
    if page.bert_key not in (readers.page.bert_key, readers.left):
        st.info(
            f"{plain(name_of(page.bert_key))} predicts neither masked nor next tokens, so the "
            "shipped checkpoints are shown."
        )
    place = chosen_place(readers)
    if place is not None:  # else the frame reports that no token is left
        show_sights(readers, place)
        show_leak(readers, place)
    show_writing(readers)
