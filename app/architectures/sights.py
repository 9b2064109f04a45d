"""Three networks at one place: who sees whom, and what each guesses."""

from collections.abc import Callable
from typing import NamedTuple, ParamSpec, TypeVar

import pandas as pd
import streamlit as st

from bertcore import Model, Trace
from bertcore.analysis.words.readings import (
    ApartReading,
    Reading,
    read_apart,
    read_both_sides,
    read_left,
    read_one_side,
    why_not_both_sides,
)
from bertcore.analysis.words.surprise import example_mask
from bertcore.checkpoints.source import CAUSAL, DEFAULT, SHIPPED

from ..plots import plain, shorten
from ..shell import Field, Picture, cache, frame, sidebar
from . import drawing

_LONGEST_NAME = 28

P = ParamSpec("P")
T = TypeVar("T")


class Readers(NamedTuple):
    """Both checkpoints and the texts; small and hashable."""

    both: cache.BertKey
    """Of masked words: the sidebar's if it is one, else `default`."""
    left: cache.BertKey | None
    """Of next tokens: the sidebar's if it is one, else the shipped one; None if none ships."""
    text_a: str
    text_b: str | None

    @property
    def bert(self) -> Model:
        """The one that reads both sides."""
        return cache.opened(self.both)

    @property
    def trace(self) -> Trace:
        """Its run of the texts."""
        return cache.trace(self.both, self.text_a, self.text_b)

    @property
    def running_text(self) -> str:
        """The text, or a pair as the running text that `read_left` reads."""
        return self.text_a if self.text_b is None else f"{self.text_a} {self.text_b}"

    @property
    def setup(self) -> str:
        """Python that opens them: `bert`, and `twin` where there is one; and `trace`."""
        pair = "" if self.text_b is None else f", {self.text_b!r}"
        twin = "" if self.left is None else f"twin = bertcore.load({self.left.source!r})\n"
        return (
            f"import bertcore\n\nbert = bertcore.load({self.both.source!r})\n{twin}"
            f"trace = bert.trace({self.text_a!r}{pair})\n"
        )


def readers_of(page: frame.Page) -> Readers:
    """Return the two checkpoints: the page's own in its role, a shipped one in the other."""
    is_both = why_not_both_sides(page.bert) is None
    is_left = "next" in page.bert.capabilities
    left = page.bert_key if is_left else None
    if left is None and CAUSAL in SHIPPED:
        left = sidebar.key_of(CAUSAL)
    both = page.bert_key if is_both else sidebar.key_of(DEFAULT)
    return Readers(both, left, page.text_a, page.text_b)


def name_of(key: cache.BertKey) -> str:
    """Return what a checkpoint is called in a sentence; may contain any characters."""
    return shorten(sidebar.brief_name(key.source), _LONGEST_NAME)


def result_or_reason(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | str:
    """Return what a function returns, or why it refuses its arguments, as a sentence."""
    try:
        return function(*args, **kwargs)
    except ValueError as reason:
        return frame.sentence_of(reason)


PLACE = Field("architecture_token", 0, url="word")
"""Place of the guessed token among the tokens of the reader of both sides; 0 for an example."""
BERT, GPT, ELMO = ("BERT", "GPT", "ELMo")
RULES = {
    BERT: "Both sides, in every layer",
    GPT: "Only the left side, in every layer",
    ELMO: "Left and right separately, joined at the end",
}


class Sights(NamedTuple):
    """What the three read; a sentence if one cannot."""

    both: Reading
    left: Reading | str
    is_twin: bool
    """Whether the left is read by a network that was trained that way."""
    apart: ApartReading | str


def _table(sights: Sights) -> pd.DataFrame:
    """Return a row for each token of each network: whether the guess sees it."""
    readings = {BERT: sights.both}
    if isinstance(sights.left, Reading):
        readings[GPT] = sights.left
    if isinstance(sights.apart, ApartReading):
        readings |= {f"{ELMO}, left": sights.apart.left, f"{ELMO}, right": sights.apart.right}
    tables = [
        pd.DataFrame(
            {
                "network": name,
                "token": reading.tokens,
                "sees": reading.sees,
                "weight_in_the_last_layer": reading.weights[-1, reading.reader],
                "is_guessed": [place == reading.position for place in range(len(reading.tokens))],
            }
        )
        for name, reading in readings.items()
    ]
    return pd.concat(tables, ignore_index=True)


SIGHTS = Picture(
    name="who-sees-whom",
    table=_table,
    how=(
        "Rows are tokens; columns are the input and each layer's output. A line leads from a token "
        "that is read to the vector that reads it; the darker the line, the larger the weight (the "
        "mean over the heads). In colour: what the guess can depend on. Point at a vector to see "
        "what it reads; click a token to guess it."
    ),
    code="""
from bertcore.analysis import read_apart, read_both_sides, read_left, read_one_side

readings = [read_both_sides(bert, trace.text_a, trace.text_b, {place})]
{more}
[reading.best for reading in readings]
""",
)


def chosen_place(readers: Readers) -> int | None:
    """Return the token that is guessed: the visitor's, a typed [MASK], or an example.

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
    return cache.computed(example_mask, readers.both, readers.text_a, readers.text_b)


def show_sights(page: frame.Page, readers: Readers, place: int) -> None:
    """Draw the three networks."""
    sights, name = cache.computed(read_sights, readers, place), name_of(readers.both)
    heading = drawing.Heading(BERT, RULES[BERT], f"Checkpoint: {name}")
    panels = [drawing.reading_panel(heading, sights.both, "both")]
    if isinstance(sights.left, Reading):
        note = (
            f"Checkpoint: {name_of(readers.left)}, trained on the next token"
            if sights.is_twin and readers.left is not None
            else f"The weights of {name} with later tokens hidden: not trained this way"
        )
        knows = sights.both.token is not None
        heading = drawing.Heading(GPT, RULES[GPT], note)
        panels.append(drawing.reading_panel(heading, sights.left, "left", knows_token=knows))
    if isinstance(sights.apart, ApartReading):
        note = (
            f"ELMo's rule applied to the weights of {name}, which were trained on both "
            "sides: not ELMo's LSTMs. The two guesses are multiplied."
        )
        heading = drawing.Heading(ELMO, RULES[ELMO], note)
        panels.append(drawing.apart_panel(heading, sights.apart))

    def pick(picked: drawing.PickedToken) -> None:
        token = same_token(readers, sights, panels[picked.panel]["name"], picked.token)
        if token is not None:
            PLACE.put(token)

    PLACE.key(default=0, low=0, high=len(readers.trace.tokens))
    drawing.draw(panels, key="architectures", on_pick=pick)
    for network, reading in ((GPT, sights.left), (ELMO, sights.apart)):
        if isinstance(reading, str):
            st.caption(f"**{network}** is not drawn. {plain(reading)}")
    more = [_left_code(readers, sights, place)] if isinstance(sights.left, Reading) else []
    if isinstance(sights.apart, ApartReading):
        more.append(f"readings.append(read_apart(bert, trace.text_a, trace.text_b, {place}))")
    SIGHTS.offer(
        page, sights, setup=readers.setup, record=sights, place=place, more="\n".join(more)
    )


def _left_code(readers: Readers, sights: Sights, place: int) -> str:
    if sights.is_twin:
        at = _character(readers.trace, place)
        return f"readings.append(read_left(twin, trace.text_a, trace.text_b, {at}))"
    return f'readings.append(read_one_side(bert, trace.text_a, trace.text_b, {place}, "left"))'


def same_token(readers: Readers, sights: Sights, name: str, token: int) -> int | None:
    """Return the token of the reader of both sides at the same place of the text, or None."""
    trace = readers.trace
    if name == GPT and sights.is_twin and readers.left is not None:
        other = cache.trace(readers.left, readers.running_text, None)
        if not 0 <= token < other.num_tokens or other.text_ids[token] < 0:
            return None
        start = other.offsets[token][0]
        for place in range(trace.num_tokens):
            if trace.text_ids[place] >= 0:
                begin = trace.offsets[place][0]
                shift = (len(readers.text_a) + 1) * trace.text_ids[place]
                if begin + shift <= start < trace.offsets[place][1] + shift:
                    return place
        return None
    return token if 0 <= token < trace.num_tokens and trace.text_ids[token] >= 0 else None


def _character(trace: Trace, place: int) -> tuple[int, int]:
    return trace.text_ids[place], trace.offsets[place][0]


def read_sights(readers: Readers, place: int) -> Sights:
    """Return what the three networks guess at a place, or why one cannot."""
    bert, texts = readers.bert, (readers.text_a, readers.text_b)
    both = read_both_sides(bert, *texts, place)
    if readers.left is None:
        left = result_or_reason(read_one_side, bert, *texts, place, "left")
    else:
        at = _character(readers.trace, place)
        left = result_or_reason(read_left, cache.opened(readers.left), *texts, at)
    apart = result_or_reason(read_apart, bert, *texts, place)
    return Sights(both, left, readers.left is not None, apart)
