"""How a word comes back to its own place over two layers, and how the network uses it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore import Model
from bertcore.analysis.words.leakage import Leakage, PathsBack, leakage, paths_back
from bertcore.configs.data import MASKED_LM_PROB

from ..plots.untrusted_text import plain
from ..shell import cache, capabilities, frame
from ..shell.jobs import waiting
from ..shell.jobs.background import Progress, Work
from ..shell.picture import Picture
from . import drawing
from .leak_figures import LEAST, helped_lines, helped_table, returned_bars
from .readers import Readers, name_of
from .sights import BERT, GPT, PLACE

AT_ONCE = 40
"""Most tokens of a text that is measured within the page's run; a longer one is queued."""


class Paths(NamedTuple):
    """The paths of a text through one network."""

    tokens: tuple[str, ...]
    found: PathsBack


class Returned(NamedTuple):
    """What comes back to the vector that would guess each token, in two networks."""

    both: Paths
    left: Paths | None

    def shares(self) -> dict[str, tuple[tuple[str, ...], NDArray[np.float32]]]:
        """Return the tokens and the share of each that comes back, by network."""
        shares = {BERT: (self.both.tokens, self.both.found.returned)}
        if self.left is not None:
            shares[GPT] = (self.left.tokens, before(self.left.found))
        return shares


def before(paths: PathsBack) -> NDArray[np.float32]:
    """Return how much of each token reaches the vector before it, which would guess it, [T]."""
    found = np.zeros(len(paths.out), dtype=np.float32)
    for place in range(1, len(found)):
        found[place] = paths.back[place - 1] @ paths.out[:, place]
    return found


def _table(returned: Returned) -> pd.DataFrame:
    return pd.concat(
        [
            pd.DataFrame({"network": name, "token": tokens, "comes_back": shares})
            for name, (tokens, shares) in returned.shares().items()
        ],
        ignore_index=True,
    )


LEAK = Picture(
    name="two-layers",
    figure=returned_bars,
    table=_table,
    how=(
        "If a network that sees both sides had to guess **each** token, as a language model does, "
        "it would see the token itself: in the first layer the other tokens read it, and in the "
        "second its own place reads them. Shares are measured by value zeroing (Mohebbi et al. "
        "2023): how much a vector changes without a token, divided by the sum over all tokens. "
        "Paths through the token's own place are left out. With attention to the left only, "
        "nothing comes back, so GPT learns from {num_left} places of this text at once, and BERT "
        "only from the 15% that it hides, about {num_hidden}. Per step, BERT learns a little more "
        "slowly, but it is better almost from the start (Devlin et al. 2019)."
    ),
    code="""
from bertcore.analysis.words.leakage import paths_back

paths = paths_back(bert, trace)
paths.out, paths.back, paths.returned
""",
)
HELPED = Picture(
    name="leak-helps",
    figure=helped_lines,
    table=helped_table,
    how=(
        "The place of **{token}** starts as \\[MASK\\] each time. In the given number of layers, "
        "the other tokens keep their states from a run that sees the word. Up to 1 layer this "
        "changes nothing, since no token has read the word yet; from 2 on, the word leaves a "
        "trace. BERT was trained without such a trace and uses it as best it can; a network "
        "trained with it would learn to copy."
    ),
    code="""
from bertcore.analysis.words.leakage import leakage

leaked = leakage(bert, trace.text_a, trace.text_b, {place})
leaked.probabilities, leaked.best
""",
)


def show_leak(page: frame.Page, readers: Readers, place: int) -> None:
    """Draw a token's paths over two layers, how much of each token comes back, and how it helps."""
    if capabilities.tells_of(readers.bert, "parts"):
        return
    returned = _returned(readers)
    if returned is None:
        return
    panels = [
        _panel(BERT, "Each place reads both sides", readers.both, returned.both, place, place)
    ]
    if returned.left is not None and readers.left is not None:
        own = _place_in(returned, place)
        if own is not None:
            rule = "Each place reads the left; the one before it guesses"
            panels.append(_panel(GPT, rule, readers.left, returned.left, own, own - 1))

    def pick(picked: drawing.Picked) -> None:
        if picked.panel == 0 and readers.trace.text_ids[picked.token] >= 0:
            PLACE.put(picked.token)

    PLACE.key(default=0, low=0, high=len(readers.trace.tokens))
    st.markdown(
        f"Where **{plain(readers.trace.tokens[place])}** goes in layer 0, and what the vector "
        "that would guess it reads in layer 1."
    )
    drawing.draw(drawing.message(panels), key="paths", on_pick=pick)
    num_tokens = len(returned.both.tokens)
    LEAK.show(
        page,
        returned,
        drawn={"chosen": place},
        setup=readers.setup,
        num_left=num_tokens - 1,
        num_hidden=max(1, round(MASKED_LM_PROB * num_tokens)),
    )
    trace = readers.trace
    if trace.input_ids[place] != readers.bert.tokenizer.mask_id:
        st.header("How does the network use the trace?", anchor=False)
        found: Leakage = cache.call(_leakage, readers.both, readers.text_a, readers.text_b, place)
        HELPED.show(page, found, setup=readers.setup, place=place, token=plain(found.token))


def _panel(
    name: str, rule: str, key: cache.BertKey, paths: Paths, place: int, reader: int
) -> dict[str, object]:
    share = float(paths.found.back[reader] @ paths.found.out[:, place])
    result = "Nothing comes back"
    if share >= LEAST:
        result = f"{share:.1%} of what it reads comes from the word itself"
    note = f"Checkpoint: {name_of(key)}"
    return drawing.paths_panel(name, rule, note, paths.tokens, paths.found, place, reader, result)


def _place_in(returned: Returned, place: int) -> int | None:
    """Return the same token of the other network, if both split the text alike."""
    tokens, others = returned.both.tokens, returned.left.tokens if returned.left else ()
    return place if tokens == others and place > 0 else None


def _returned(readers: Readers) -> Returned | None:
    """Return the paths in both networks; for a long text, None while they are computed."""
    if readers.trace.num_tokens <= AT_ONCE:
        found: Returned = cache.call(_both, readers.both, readers)
        return found

    def work(progress: Progress) -> Returned:
        return _both(readers.bert, readers, progress)

    later: Returned | None = waiting.result(Work(("two-layers", readers), work), "two-layers")
    return later


def _both(
    bert: Model, readers: Readers, progress: Progress = lambda fraction, stage: None
) -> Returned:
    def measured(model: Model, key: cache.BertKey, start: float) -> Paths:
        trace = cache.trace(key, readers.text_a, readers.text_b)
        found = paths_back(
            model, trace, lambda done: progress(start + done / 2, "Zeroing values in two layers")
        )
        return Paths(tuple(trace.tokens), found)

    both = measured(bert, readers.both, 0.0)
    left = None
    if readers.left is not None:
        twin = cache.opened(readers.left)
        if "parts" in twin.capabilities and twin.config.num_hidden_layers > 1:
            left = measured(twin, readers.left, 0.5)
    return Returned(both, left)


def _leakage(bert: Model, text_a: str, text_b: str | None, place: int) -> Leakage:
    return leakage(bert, text_a, text_b, place)
