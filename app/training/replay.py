"""The replay of a run from its probes."""

from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from bertcore.analysis.space.probe_map import probe_map
from bertcore.pretraining.data.corpus import RECORDED_RUNS
from bertcore.training.probes import Probe

from ..access import places
from ..layer_watch.layer_watch import layer_watch
from ..plots import theme
from ..shell import Picture, frame
from .fields import HEAD, LAYER, MOMENT, SENTENCE
from .replay_figures import probe_answers, replay, spread_moments
from .watch import probes

NO_PROBES = (
    "This run has no probes yet. They are recorded at its start and with each held-out score; runs "
    "of older versions have none."
)
MEAN = -1  # stands for the mean of a layer's heads


REPLAY = Picture(
    name="replay",
    table=probe_answers,
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
from bertcore.analysis import probe_map
from bertcore.pretraining import read_probes

probes = read_probes(Path({path!r}))
[probe.sentences[{sentence}].attention[{layer}, {heads}].mean(0) for probe in probes]  # each [T, T]
probe_map(probes).coordinates                                        # [S, P, 2]
""",
)
PAIRS = ", and that B follows A; the first pair belongs together and the second does not"


def show_replay(path: Path) -> None:
    """Draw the replay of a run, or a note that it has no probes."""
    with frame.guard():  # inside the fragment, so that no error leaves it
        recorded = probes(path)
        if not recorded:
            st.info(NO_PROBES)
            return
        _play(path, recorded)


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
    usual = formed_head(recorded[-1]) if path in RECORDED_RUNS else (num_layers - 1, 0)
    sentence, layer, head = _choose(recorded[-1], *usual)
    drawn = [recorded[index] for index in spread_moments(len(recorded))]
    mapped = probe_map(drawn)
    _keep_moment(len(drawn))
    has_pairs = any(sentence.is_next is not None for sentence in recorded[-1].sentences)
    reading: dict[str, Any] = {
        "explained": f"{mapped.explained[-1]:.0%}",
        "pairs": PAIRS if has_pairs else "",
    }
    fig = replay(
        drawn,
        mapped,
        sentence=sentence,
        layer=layer,
        head=None if head == MEAN else head,
        moment=MOMENT.value,
        ink=theme.INK[st.context.theme.type == "dark"],
    )
    REPLAY.show(
        None,
        recorded,
        fig=fig,
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


def formed_head(probe: Probe) -> tuple[int, int]:
    """Return layer and head whose largest weights are the largest, on average over the tokens."""
    largest = np.mean([one.attention.max(-1).mean(-1) for one in probe.sentences], axis=0)  # [L, H]
    layer, head = np.unravel_index(largest.argmax(), largest.shape)
    return int(layer), int(head)


def _choose(probe: Probe, usual_layer: int, usual_head: int) -> tuple[int, int, int]:
    """Draw the choice of sentence, layer and head; return them, the head MEAN for the mean."""
    num_layers, num_heads = probe.sentences[0].codes.shape[:2]
    row = st.container(horizontal=True, vertical_alignment="bottom")
    texts = [sentence.text for sentence in probe.sentences]
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
