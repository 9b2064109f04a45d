"""A run played again from its probes."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app.layer_map.layer_watch import layer_watch
from app.plots import theme
from app.shell import frame, state, tables, texts_lookup
from app.training import replay_figures as figures
from app.training.head_figures import heads_over_time
from app.training.watch import probes
from bertcore.analysis.heads.history import head_history
from bertcore.analysis.space.probe_map import probe_map
from bertcore.training.probes import Probe


def show_replay(path: Path) -> None:
    """Draw the replay of a run, or say that it has no probes."""
    with frame.guard():  # inside the fragment: it must not let an error out
        found = probes(path)
        if not found:
            st.info(texts_lookup.TEXTS["training.no_probes"])
            return
        _play(path, found)
        _show_heads(path, found)


def _show_heads(path: Path, found: list[Probe]) -> None:
    history = head_history(found)
    arrays = {"steps": history.steps, "spread": history.spread, "favourite": history.favourite}
    code = texts_lookup.CODE["training.heads"].format(path=str(path))
    fig = heads_over_time(history)
    frame.figure(fig, "training-heads", arrays, code, how=frame.reading("training.heads"))
    frame.how_to_read("training.heads")


@st.fragment
def _keep_moment(count: int) -> None:
    """Keep where the slider stands; the figure itself does not run again."""
    label = "Training by moments: the arrow keys change the moment"
    moment = layer_watch(".st-key-figure_replay", key="replay_watch", label=label)
    if moment is not None:
        st.session_state["replay_moment"] = min(moment, count - 1)
    state.keep("replay_moment", count - 1, low=0, high=count - 1)


def _play(path: Path, found: list[Probe]) -> None:
    sentences = found[-1].sentences
    num_layers, num_heads = sentences[0].codes.shape[:2]
    row = st.container(horizontal=True, vertical_alignment="bottom")
    names = [
        one.text.text_a + (f" | {one.text.text_b}" if one.text.text_b else "") for one in sentences
    ]
    sentence = row.selectbox(
        "Sentence",
        range(len(names)),
        key=state.keep("replay_sentence", 0, options=range(len(names))),
        format_func=names.__getitem__,
        width=420,
    )
    layer = row.selectbox(
        "Layer",
        range(num_layers),
        key=state.keep("replay_layer", num_layers - 1, options=range(num_layers)),
        width=100,
    )
    heads = [-1, *range(num_heads)]
    head = row.selectbox(
        "Head",
        heads,
        key=state.keep("replay_head", 0, options=heads),
        format_func=lambda number: "mean" if number < 0 else str(number),
        width=100,
    )
    shown = [found[index] for index in figures.spread_moments(len(found))]
    mapped = probe_map(shown)
    _keep_moment(len(shown))
    fig = figures.replay(
        shown,
        mapped,
        sentence=sentence,
        layer=layer,
        head=None if head < 0 else head,
        moment=st.session_state["replay_moment"],
        ink=theme.INK[st.context.theme.type == "dark"],
    )
    code = texts_lookup.CODE["training.replay"].format(
        path=str(path), sentence=sentence, layer=layer, head=max(head, 0)
    )
    frame.figure(fig, "replay", tables.probe_answers(found), code)
    if len(shown) < len(found):
        st.caption(f"{len(shown)} of {len(found)} moments are under the slider.")
    has_pairs = any(one.is_next is not None for one in sentences)
    frame.how_to_read(
        "training.replay",
        explained=f"{mapped.explained[-1]:.0%}",
        pairs=texts_lookup.TEXTS["training.replay.pairs"] if has_pairs else "",
    )
