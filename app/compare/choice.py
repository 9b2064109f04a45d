"""Which checkpoint is compared with the page's, and two moments of a run."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app.compare import case as compare
from app.compare import saved_checkpoints
from app.plots.untrusted_text import plain
from app.shell import cache, capabilities, frame, sidebar, state, texts_lookup
from app.training import runs as training_runs
from bertcore.analysis.compare.checkpoints import limits
from bertcore.checkpoints.folder import OnlyPickleError


def choose(page: frame.Page) -> tuple[compare.Side, compare.Side]:
    """Draw the choice of the other checkpoint; return both, opened, in the order of the page.

    If the other does not open, one sentence says why and the page ends.
    """
    own = page.bert_key.source
    row = st.container(horizontal=True, vertical_alignment="bottom", key="compare_choice")
    chosen = state.value("compare_with", compare.SUGGESTED) or compare.SUGGESTED
    options = list(dict.fromkeys([compare.SUGGESTED, *compare.choices(), chosen]))
    names = compare.shown_names(options)
    hint = _hint(own)
    row.selectbox(
        f"Compare {plain(compare.shown_name(own))} with",
        options,
        key=state.keep("compare_with", compare.SUGGESTED),
        accept_new_options=True,
        format_func=lambda source: (
            hint if source == compare.SUGGESTED else names.get(source) or compare.shown_name(source)
        ),
        on_change=lambda: sidebar.allow(st.session_state["compare_with"]),
        help=texts_lookup.TEXTS["compare.help"],
        width=420,
    )
    chosen = str(st.session_state["compare_with"] or compare.SUGGESTED).strip()
    own_side, other_side = compare.sides(page, chosen)
    first_side, second_side = compare.in_order(own_side, other_side, chosen)
    row.button(
        "Swap",
        icon=":material/swap_horiz:",
        on_click=compare.swap,
        args=(first_side.key.source, second_side.key.source),
        disabled=other_side.is_untrained,
    )
    with row.popover("Two moments of a run", icon=":material/history:"):
        _choose_moments(own)
    _open(other_side)
    if first_side == other_side:
        names = {
            "first": plain(first_side.name),
            "second": plain(second_side.name),
        }
        st.caption(texts_lookup.TEXTS["compare.began_with"].format(**names))
    _say(first_side, second_side)
    return first_side, second_side


def _hint(own: str) -> str:
    """Return what the suggestion is called in the list."""
    source = compare.suggested(own)
    why = "suggested" if source == compare.UNTRAINED else "what it was fine-tuned from"
    return f"{compare.shown_name(source)} ({why})"


def _open(side: compare.Side) -> None:
    """Open the other checkpoint, or say why it does not open and end the page."""
    if side.is_untrained:
        reason = capabilities.reason(cache.opened(side.key), "parts")
        if reason is not None:  # of another architecture, which cannot be made anew here
            st.info(f"{reason} {texts_lookup.TEXTS['compare.no_untrained']}")
            frame.end_page()
        with frame.guard(stop=True):
            assert side.bert
        return
    if sidebar.awaits_consent(side.key):
        source = side.key.source
        st.info(texts_lookup.TEXTS["compare.hub"].format(source=plain(source)))
        st.button(
            "Fetch it from the hub", key="compare_fetch", on_click=sidebar.allow, args=(source,)
        )
        frame.end_page()
    asks_consent = False
    with frame.guard():
        try:
            cache.opened(side.key)
        except OnlyPickleError:
            asks_consent = True
            raise
        return
    if asks_consent:
        st.caption(frame.PICKLED_WEIGHTS)
        st.button(
            "I trust it: read its weights",
            key="compare_agree",
            on_click=sidebar.agree,
            args=(side.key.source,),
        )
    frame.end_page()


def _say(first: compare.Side, second: compare.Side) -> None:
    """Say what of the two cannot be compared, or that they are the same."""
    if second.is_untrained:
        name = plain(first.name)
        st.caption(texts_lookup.TEXTS["compare.untrained"].format(first=name))
        return
    reports = [side.bert.report for side in (first, second)]
    prints = [None if report is None else report.fingerprint for report in reports]
    if prints[0] is not None and prints[0] == prints[1]:
        st.info(texts_lookup.TEXTS["compare.same"].format(fingerprint=prints[0][:12]))
    said = limits(first.bert, second.bert)
    if said:
        st.warning("\n\n".join(plain(sentence) for sentence in said))


def _choose_moments(first: str) -> None:
    """Draw the choice of a run, at first the page's own, and of two of its saved moments."""
    default, own = training_runs.default_folder(), ""
    found = saved_checkpoints.own_run(Path(first).expanduser())
    if found is not None:
        default, own = found
    typed = st.text_input(
        "Folder of the runs",
        key=state.keep("runs", str(default)),
        help=texts_lookup.TEXTS["compare.moments_folder"],
    )
    folder = Path(typed.strip() or default).expanduser().absolute()
    with frame.guard():
        runs = saved_checkpoints.of_runs(folder)
        if not runs:
            st.caption(texts_lookup.TEXTS["compare.moments_none"])
            return
        names = list(runs)
        usual = next((name for name in names if own and name.startswith(own)), names[0])
        run = st.selectbox("Run", names, key=state.keep("run", usual, options=names))
        paths = {saved_checkpoints.label(path): str(path) for path in runs[run]}
        left, right = st.columns(2)
        one = left.selectbox("First moment", list(paths), key=f"compare_step_1_{run}")
        two = right.selectbox(
            "Second moment", list(paths), index=len(paths) - 1, key=f"compare_step_2_{run}"
        )
        st.button(
            "Compare these moments",
            on_click=compare.compare_moments,
            args=(paths[one], paths[two]),
        )
