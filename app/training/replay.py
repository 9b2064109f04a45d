"""The replay of a run from its probes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.analysis.heads.entropy_history import head_history
from bertcore.analysis.space.probe_map import ProbeMap, probe_map
from bertcore.pretraining.data.bundled import RECORDED_RUN
from bertcore.training.probes import Probe

from ..access import places
from ..layer_watch.layer_watch import layer_watch
from ..plots import theme
from ..plots.figure import Figure
from ..shell import frame
from ..shell.picture import Picture
from .fields import HEAD, LAYER, MOMENT, SENTENCE
from .head_figures import heads_arrays, heads_over_time
from .replay_figures import probe_answers, replay, spread_moments
from .watch import probes

NO_PROBES = (
    "This run has no probes yet. They are recorded at its start and with each held-out score; runs "
    "of older versions have none."
)
MEAN = -1
"""Stands for the mean of a layer's heads."""


class Shown(NamedTuple):
    """The probes of a run, and those under the slider with their map."""

    probes: list[Probe]
    drawn: list[Probe]
    mapped: ProbeMap


def _replay(
    shown: Shown, *, sentence: int, layer: int, head: int | None, moment: int, ink: str
) -> Figure:
    return replay(
        shown.drawn,
        shown.mapped,
        sentence=sentence,
        layer=layer,
        head=head,
        moment=moment,
        ink=ink,
    )


def _answers(shown: Shown) -> pd.DataFrame:
    return probe_answers(shown.probes)


REPLAY = Picture(
    name="replay",
    figure=_replay,
    table=_answers,
    how=(
        "Press Play, or move the slider: all four pictures follow. *Attention*: the row's token "
        "attends to the column's; brighter is more (by the square root of the weight, on the same "
        "scale at every step). *Map*: each point is a word in its sentence, large for the chosen "
        "sentence; its path is the grey trail. The axes are those of the last step (they show "
        "{explained} of its variance), so that a place means the same at every step. *Guesses*: "
        "the best five for the hidden word, pink if right. *Answers*: the probability of the "
        "hidden word{pairs}."
    ),
    code="""
from pathlib import Path
from bertcore.analysis.space.probe_map import probe_map
from bertcore.training.probes import read_probes

probes = read_probes(Path({path!r}))
[probe.sentences[{sentence}].attention[{layer}, {heads}].mean(0) for probe in probes]  # each [T, T]
probe_map(probes).coordinates                                        # [S, P, 2]
""",
)
PAIRS = ", and that B follows A; the first pair belongs together and the second does not"
HEADS = Picture(
    name="training-heads",
    figure=heads_over_time,
    table=heads_arrays,
    how=(
        "Each row is an attention head. Bright means that it attends to all tokens alike, dark to "
        "one token. A head forms where its row turns dark."
    ),
    code="""
from pathlib import Path
from bertcore.analysis.heads.entropy_history import head_history
from bertcore.training.probes import read_probes

head_history(read_probes(Path({path!r}))).spread                     # [S, L, H]
""",
)


def show_replay(path: Path) -> None:
    """Draw the replay of a run, or a note that it has no probes."""
    with frame.guard():  # inside the fragment, so that no error leaves it
        recorded = probes(path)
        if not recorded:
            st.info(NO_PROBES)
            return
        _play(path, recorded)
        HEADS.show(None, head_history(recorded), setup="", path=places.hide(str(path)))


@frame.fragment
def _keep_moment(count: int) -> None:
    """Keep the position of the slider; the figure itself does not run again."""
    label = "Training by step: the arrow keys change the step"
    moment = layer_watch(".st-key-figure_replay", key="replay_watch", label=label)
    if moment is not None:
        st.session_state[MOMENT.name] = min(moment, count - 1)
    MOMENT.key(default=count - 1, low=0, high=count - 1)


def _play(path: Path, recorded: list[Probe]) -> None:
    """Draw the controls and the replay."""
    num_layers = len(recorded[-1].sentences[0].codes)
    usual = formed_head(recorded) if path == RECORDED_RUN else (num_layers - 1, 0)
    sentence, layer, head = _choose(recorded[-1], *usual)
    drawn = [recorded[index] for index in spread_moments(len(recorded))]
    shown = Shown(recorded, drawn, probe_map(drawn))
    _keep_moment(len(drawn))
    has_pairs = any(one.is_next is not None for one in recorded[-1].sentences)
    reading: dict[str, Any] = {
        "explained": f"{shown.mapped.explained[-1]:.0%}",
        "pairs": PAIRS if has_pairs else "",
    }
    REPLAY.show(
        None,
        shown,
        drawn={
            "sentence": sentence,
            "layer": layer,
            "head": None if head == MEAN else head,
            "moment": MOMENT.value,
            "ink": theme.INK[st.context.theme.type == "dark"],
        },
        setup="",
        with_caption=False,
        path=places.hide(str(path)),
        sentence=sentence,
        layer=layer,
        heads=":" if head == MEAN else f"[{head}]",
        **reading,
    )
    if len(drawn) < len(recorded):
        st.caption(f"The slider has {len(drawn)} of {len(recorded)} steps.")
    REPLAY.caption(**reading)


def formed_head(recorded: list[Probe]) -> tuple[int, int]:
    """Return layer and head whose attention is the sharpest at the end of a run."""
    spread = head_history(recorded).spread[-1]
    layer, head = np.unravel_index(spread.argmin(), spread.shape)
    return int(layer), int(head)


def _choose(probe: Probe, usual_layer: int, usual_head: int) -> tuple[int, int, int]:
    """Draw the choice of sentence, layer and head; return them, the head MEAN for the mean."""
    num_layers, num_heads = probe.sentences[0].codes.shape[:2]
    row = st.container(horizontal=True, vertical_alignment="bottom")
    texts = [one.text for one in probe.sentences]
    names = [text.text_a + (f" | {text.text_b}" if text.text_b else "") for text in texts]
    sentence = row.selectbox(
        "Sentence",
        range(len(names)),
        key=SENTENCE.key(options=range(len(names))),
        format_func=names.__getitem__,
        width=420,
    )
    layer = row.selectbox(
        "Layer",
        range(num_layers),
        key=LAYER.key(default=usual_layer, options=range(num_layers)),
        width=100,
    )
    heads = [MEAN, *range(num_heads)]
    head = row.selectbox(
        "Head",
        heads,
        key=HEAD.key(default=usual_head, options=heads),
        format_func=lambda number: "mean" if number == MEAN else str(number),
        width=100,
    )
    return sentence, layer, head
