"""How tokens mix: the choices, and the pictures of every measure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from app.mixing import chart_figures as charts
from app.mixing import figures
from app.mixing import measures as mixing
from app.mixing.measures import Choice, Found, Texts
from app.plots.untrusted_text import plain
from app.shell import frame, state, texts_lookup, waiting
from app.shell.background import Job, Work
from app.token_strip.token_strip import token_strip
from bertcore.analysis.mixing.maps import rank_agreement
from bertcore.others.families import CAUSAL, OtherFamily

VIEWS = {"token": "One token", "all": "Every token"}
TARGETS = {"word": "the word predicted at the token", "next": "B follows A"}
ALL_HEADS = "all"
_ASKED = "_mix_asked"


def kept_choice(page: frame.Page) -> Choice:
    """Return what is chosen; the widgets are drawn below the picture."""
    config, num_tokens = page.bert.config, page.trace.num_tokens
    token = state.value(state.keep("mix_token", -1, low=-1, high=num_tokens - 1))
    layers = list(range(config.num_hidden_layers))
    # In the middle: early layers look at neighbours, the last ones mix little.
    layer = state.value(state.keep("mix_layer", len(layers) // 2, options=layers))
    head = state.value(state.keep("mix_head", ALL_HEADS, options=head_names(page)))
    targets = mixing.targets(page.bert, page.text_b)
    target = None
    if targets:
        target = state.value(state.keep("mix_target", targets[0], options=targets))
    return Choice(
        layer=layer,
        head=None if head == ALL_HEADS else int(head),
        token=mixing.usual_token(page.trace, page.bert.tokenizer.mask_id) if token < 0 else token,
        target=target,
    )


def head_names(page: frame.Page) -> list[str]:
    """Return the choices of a head."""
    return [ALL_HEADS, *(str(head) for head in range(page.bert.config.num_attention_heads))]


def choose_token(page: frame.Page, choice: Choice) -> None:
    """Draw the text; a click chooses the token that receives."""

    def pick(token: int) -> None:
        state.put("mix_token", token)

    token_strip(page.trace, key="mix_strip", selected=choice.token, on_pick=pick)


def draw_controls(page: frame.Page) -> None:
    """Draw layer, head, target, and whether the token itself counts."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    layers = list(range(page.bert.config.num_hidden_layers))
    row.segmented_control("Layer", layers, key="mix_layer", required=True)
    row.selectbox(
        "Head",
        head_names(page),
        format_func=lambda name: "all together" if name == ALL_HEADS else f"head {name}",
        key="mix_head",
        width=150,
        help=texts_lookup.TEXTS["mixing.head_help"],
    )
    targets = mixing.targets(page.bert, page.text_b)
    if len(targets) > 1:
        row.selectbox("Gradient of", targets, format_func=TARGETS.get, key="mix_target", width=270)
    row.toggle(
        "Leave out the token itself", key="mix_others", help=texts_lookup.TEXTS["mixing.others"]
    )


def show_picture(
    page: frame.Page, where: Texts, choice: Choice, view: str, below: Callable[[Found], None]
) -> Found:
    """Draw the picture, first without what takes long, which comes by itself; return what it shows.

    Args:
        view: One of VIEWS.
        below: Draws what stands under the picture.
    """
    keys = mixing.job_keys(where, choice, view)
    mixing.stop(st.session_state.get(_ASKED, keys) - keys)  # of the choice before
    st.session_state[_ASKED] = keys
    measure = mixing.every_token if view == "all" else mixing.one_token
    measure = partial(measure, slow=state.value("mix_slow"))
    place, bars = st.container(), st.container()
    found = measure(where, choice)
    with bars:
        if _await(found):
            found = measure(where, choice)
    below(found)
    found = _shown(page, found, choice, view)
    with place:
        fig = _figure(page, found, choice, view)
        if found.waiting:  # files and Python are those of the whole picture
            st.plotly_chart(fig)
            return found
        tokens, how = page.trace.tokens, frame.reading(f"mixing.{view}")
        if view == "all":
            arrays = {**found.maps, "tokens": np.array(tokens)}
            frame.figure(fig, "mixing-maps", arrays, code_of(page, choice), how=how)
        else:
            rows = {name: shares[0] for name, shares in found.maps.items()}
            table = figures.strips_table(rows, tokens, choice.token)
            frame.figure(fig, "mixing", table, code_of(page, choice), how=how)
    return found


def _await(found: Found) -> bool:
    """Draw the progress of what is awaited; return whether some of it has come meanwhile."""
    works: dict[Work, list[str]] = {}
    for measure, work in found.waiting.items():
        works.setdefault(work, []).append(measure)
    has_come = False
    for work, measured in works.items():
        named = " and ".join(figures.NAMES[measure] for measure in measured)
        say = partial(_progress, named)
        result = waiting.result(work, f"mixing-{measured[0]}", patience=0.0, say=say)
        has_come = has_come or result is not None
    return has_come


def _progress(named: str, job: Job) -> str:
    return f"{named}: {job.stage.lower()}"


def _shown(page: frame.Page, found: Found, choice: Choice, view: str) -> Found:
    """Return the rows as they are drawn: with or without the token itself."""
    if not state.value("mix_others"):
        return found
    rows = range(page.trace.num_tokens) if view == "all" else [choice.token]
    return Found(mixing.without_itself(found.maps, rows), found.waiting, found.offered)


def _figure(page: frame.Page, found: Found, choice: Choice, view: str) -> go.Figure:
    """Draw the title; return the picture, with room for what is awaited."""
    tokens, layer = page.trace.tokens, choice.layer
    if view == "all":
        st.markdown(f"#### Where does every token get its information? Layer {layer}")
        return figures.small_maps(found.maps, tokens)
    rows = {name: shares[0] for name, shares in found.maps.items()}
    rows |= dict.fromkeys(found.waiting, np.empty(0, dtype=np.float32))
    named = [plain(token) for token in tokens]
    st.markdown(f"#### Where does “{named[choice.token]}” get its information?")
    st.markdown(f"In layer {layer}, {figures.verdict(rows, named, choice.token)}")
    groups = {
        f"In layer {layer}": mixing.IN_LAYER,
        f"From the text up to layer {layer}": mixing.THROUGH_LAYERS,
    }
    return figures.strips(
        {title: {n: rows[n] for n in names if n in rows} for title, names in groups.items()},
        tokens,
        choice.token,
    )


def offer_slow(page: frame.Page, where: Texts, choice: Choice, view: str) -> None:
    """Draw the switch of the measures that take long; off stops them, too."""
    num_rows = page.trace.num_tokens if view == "all" else 1
    slow = mixing.slow_measures(where, choice, num_rows)
    if not slow:
        return
    names = " and ".join(figures.NAMES[name].lower() for name in slow)

    def switched() -> None:
        if not st.session_state["mix_slow"]:
            mixing.stop(mixing.job_keys(where, choice, view))

    # Both value zeroings are one job.
    seconds = slow.get("flow", 0.0) + slow.get("zeroing_rollout", 0.0)
    st.toggle(
        f"Compute {names} too ({_about(seconds)})",
        key="mix_slow",
        on_change=switched,
        help=texts_lookup.TEXTS["mixing.slow"],
    )


def _about(seconds: float) -> str:
    """Return a rough time in words.

    >>> _about(23.0), _about(200.0)
    ('about 25 seconds', 'about 3 minutes')
    """
    if seconds < 90:
        return f"about {5 * max(1, round(seconds / 5))} seconds"
    return f"about {round(seconds / 60)} minutes"


def show_notes(page: frame.Page, found: Found, choice: Choice) -> None:
    """Say in a sentence each what is not in the picture and why."""
    if "flow" not in {*found.maps, *found.waiting, *found.offered}:
        layers, given = choice.layer + 1, page.trace.num_tokens
        st.caption(texts_lookup.TEXTS["mixing.no_flow"].format(layers=layers, given=given))
    family = page.bert.config.family
    left_out = [
        name
        for name in (*mixing.IN_LAYER, *mixing.THROUGH_LAYERS)
        if name not in mixing.measures(page.bert)
    ]
    if isinstance(family, OtherFamily) and family.words == CAUSAL:
        st.caption(texts_lookup.TEXTS["mixing.causal"].format(name=family.name))
    if isinstance(family, OtherFamily) and family.has_decoder:
        st.caption(texts_lookup.TEXTS["mixing.encoder"].format(name=family.name))
    if left_out:
        names = ", ".join(figures.NAMES[name] for name in left_out)
        reason = plain(family.lacks["parts"])
        st.caption(texts_lookup.TEXTS["mixing.attention_alone"].format(names=names, reason=reason))
    elif choice.target is None:
        st.caption(texts_lookup.TEXTS["mixing.no_target"])
    elif "gradient" in found.maps and not found.maps["gradient"].any():
        st.caption(texts_lookup.TEXTS["mixing.no_gradient"])


def show_charts(page: frame.Page, where: Texts, choice: Choice, found: Found) -> None:
    """Draw how far the measures agree, and how [SEP] fades where the layers' parts are known."""
    names = list(found.maps)
    agreed = rank_agreement(list(found.maps.values()))
    table = charts.agreement_table(agreed, names)
    fig = charts.agreement(agreed, names)
    how = frame.reading("mixing.agreement")
    frame.figure(fig, "mixing-agreement", table, code_of(page, choice), how=how)
    frame.how_to_read("mixing.agreement")

    if "norms" not in found.maps:
        return
    shares = mixing.separator_shares(where)
    parts = (shares.weights, shares.norms, shares.block)
    table = charts.separator_table(*parts)
    ratios = ", ".join(f"{ratio:.0%}" for ratio in shares.mixing_ratio)
    fig = charts.separator_fade(*parts, page.marks.others)
    how = frame.reading("mixing.separator", ratios=ratios)
    frame.figure(fig, "mixing-sep", table, separator_code(page), how=how)
    frame.how_to_read("mixing.separator", ratios=ratios)


def code_of(page: frame.Page, choice: Choice) -> str:
    """Return Python that makes the same numbers."""
    heads = "mean(0)" if choice.head is None else f"select(0, {choice.head})"
    if "norms" not in mixing.measures(page.bert):
        return page.setup_code + texts_lookup.CODE["mixing.attention_alone"].format(
            layer=choice.layer, head=choice.head, token=choice.token, heads=heads
        )
    target = {
        "word": f"best_word(bert, trace, {choice.token})",
        "next": "NextSentenceLogit()",
        None: "lambda bert, hidden: hidden[0, 0, 0]  # no head: any number of the last layer",
    }[choice.target]
    values = {"layer": choice.layer, "head": choice.head, "token": choice.token, "target": target}
    norms = (
        "block_norms(bert, trace).summed[layer]"
        if choice.head is None
        else f"weighted_norms(bert, trace)[layer, {choice.head}]"
    )
    return page.setup_code + texts_lookup.CODE["mixing.strips"].format(
        **values, heads=heads, norms=norms
    )


def separator_code(page: frame.Page) -> str:
    """Return Python that makes the shares of [SEP]."""
    return page.setup_code + texts_lookup.CODE["mixing.separator"]
