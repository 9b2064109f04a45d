"""Which heads matter here: all of them removed in turn, and the chosen ones removed for good."""

from __future__ import annotations

import re
from pathlib import Path

import streamlit as st

from app.plots import before_after as figures
from app.plots import before_after_tables as tables
from app.plots.untrusted_text import plain
from app.shell import cache, frame, sidebar, state, texts_lookup, waiting
from app.what_if import changes as what_if
from app.what_if import results
from app.what_if.ranking_words import ranking_caption, ranking_code
from bertcore.analysis.heads.importance import HeadImportance
from bertcore.interventions.what_if import Changes, every_head, parse_head
from bertcore.pruning import save_pruned

STRONGEST = 10
_RANKED, _OPENED, _SAVED = "_what_if_ranked", "_what_if_opened", "_what_if_saved"
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_. -]{0,59}")


def show_ranking(page: frame.Page, case: what_if.Case) -> None:
    """Draw the button, and the effects of the heads once it was pressed."""
    st.subheader("Which heads matter here?", anchor=False)
    name = state.keep("rank", False)
    place = st.container()  # the picture stands above what is asked for
    asked = _ask(page, case)
    ranked: what_if.Question | None = st.session_state.get(_RANKED)
    if ranked is not None and not _is_about(ranked, asked):
        ranked = None  # another text or word: it says nothing about this one
    if ranked is None and state.value(name):
        ranked = asked  # from a link
    row = st.container(horizontal=True, vertical_alignment="center")
    icon = ":material/leaderboard:"
    if row.button("Rank all heads", icon=icon, type="primary", disabled=ranked == asked):
        state.put(name, True)
        ranked = asked
    st.session_state[_RANKED] = ranked
    if ranked is not None:
        if ranked != asked:
            row.caption(texts_lookup.TEXTS["what-if.rank_old"])
        with place:
            work = what_if.ranking(page.bert_key, ranked)
            found: HeadImportance | None = waiting.result(
                work, "ranking", stopped=texts_lookup.TEXTS["what-if.rank_stopped"]
            )
            if found is not None:
                _draw(page, ranked, found)
    frame.how_to_read("what-if.rank")


def _is_about(ranked: what_if.Question, asked: what_if.Question) -> bool:
    """Return whether a ranking differs from what is asked in the changes in force at most."""
    case = ranked.case._replace(changes=asked.case.changes)
    return ranked._replace(case=case) == asked


def _ask(page: frame.Page, case: what_if.Case) -> what_if.Question:
    """Draw the choice of mask and word, and of the class, where there is something to read."""
    tokenizer = page.bert.tokenizer
    tokens = what_if.before(page.bert_key, case).tokens
    masks = [i for i, token in enumerate(tokens) if token == tokenizer.mask_token]
    can_read = bool(masks) and page.bert.module.mlm is not None
    task = what_if.readable_task_head(page.bert_key)
    labels = list(task.labels) if task is not None and task.kind in ("classes", "labels") else []
    if not can_read and not labels:
        return what_if.Question(case, None, "")
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    position, word, label = None, "", ""
    if can_read:
        key = state.keep("mask", masks[0], options=masks)
        if len(masks) > 1:
            at = f"At the {plain(tokenizer.mask_token)}"
            row.segmented_control(at, masks, key=key, required=True)
        position = state.value(key)
        word = row.text_input(
            "Word to follow",
            key=state.keep("rank_word", ""),
            placeholder="BERT's best guess",
            width=220,
        )
    if labels:
        label = row.selectbox(
            "Class to follow" if task.kind == "classes" else "Label to follow",
            ["", *labels],
            format_func=lambda name: name or "the best guess",
            key=state.keep("rank_label", "", options=["", *labels]),
            width=220,
        )
    return what_if.Question(case, position, word.strip(), label)


def _draw(page: frame.Page, ranked: what_if.Question, found: HeadImportance) -> None:
    measures = list(found.measures())
    key = state.keep("rank_by", measures[0], options=measures)
    chosen = state.value(key)
    case = ranked.case
    code = page.setup_code + ranking_code(found, chosen, case.masked, case.changes)
    left, right = st.columns([3, 2], gap="large")
    with left:
        table = tables.head_table({name: getattr(found, name) for name in measures})
        record = {**results.about(page, ranked.case), "ranking": found}
        fig = figures.effect_grid(found, chosen, is_dark=page.is_dark)
        how = frame.reading("what-if.rank")
        frame.figure(fig, "what-if-ranking", table, code, record=record, how=how)
        if len(measures) > 1:
            st.segmented_control(
                "Effect on",
                measures,
                format_func=lambda name: figures.measure_name(name, found.task),
                key=key,
                required=True,
            )
        st.caption(ranking_caption(found, chosen))
    with right:
        _list(found, chosen)


def _list(found: HeadImportance, measure: str) -> None:
    """Draw the strongest heads, each with a switch."""
    strongest = found.strongest(measure, STRONGEST)
    off = set(state.value("off"))
    st.markdown(f"**The {len(strongest)} strongest**")
    rows = st.container(gap=None)
    for layer, head, effect in strongest:
        name = what_if.name_of(layer, head)
        rows.button(
            f"Head {name}  ·  {effect:+.4f}  ·  {'switch on' if name in off else 'switch off'}",
            key=f"strong_{name}",
            on_click=_toggle,
            args=(name,),
            type="tertiary",
        )


def _toggle(name: str) -> None:
    off = {*state.value("off", [])} ^ {name}
    state.put("off", sorted(off, key=parse_head))


def show_saving(page: frame.Page, changes: Changes) -> None:
    """Draw the form that saves a checkpoint without the heads that are off."""
    if st.session_state.pop(_OPENED, False):
        st.rerun(scope="app")  # the sidebar, which opens it, is not in this fragment
    off = sorted(changes.heads_off)
    with st.expander("Save a checkpoint without these heads", icon=":material/save:"):
        st.caption(texts_lookup.TEXTS["what-if.save"])
        if not off:
            st.info("All heads are on. Switch off those to remove.")
            return
        whole = len(every_head(page.bert.config))
        row = st.container(horizontal=True, vertical_alignment="bottom")
        name = row.text_input("Name", key="pruned_name", placeholder="without-some-heads").strip()
        if row.button(f"Save without {len(off)} of {whole} heads", icon=":material/save:"):
            _save(page.bert_key, off, name or "without-some-heads")
        saved = st.session_state.get(_SAVED)
        if saved is not None:
            st.success(f"Saved in {plain(str(saved))}")
            st.button("Open it", on_click=_open, args=(saved,), icon=":material/folder_open:")


def _save(key: cache.BertKey, off: list[tuple[int, int]], name: str) -> None:
    """Save below the folder that the server was started in; the sidebar lists what is there."""
    st.session_state[_SAVED] = None
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name[:60]!r} cannot be a folder's name. Use letters, digits, dots and dashes."
        )
    target = Path.cwd() / "checkpoints" / name
    st.session_state[_SAVED] = save_pruned(cache.opened(key), off, target)


def _open(folder: Path) -> None:
    """Make the saved checkpoint that of all pages, with all of its heads on."""
    sidebar.choose(str(folder))
    what_if.forget_all()
    st.session_state[_SAVED] = None
    st.session_state[_OPENED] = True
