"""A labelled file: metrics, confusion, calibration, slices, and the worst errors."""

from __future__ import annotations

from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from app.inspect_checkpoint import file_figures as figures
from app.inspect_checkpoint import labelled_files
from app.inspect_checkpoint import model as inspection
from app.inspect_checkpoint.labelled_files import Labelled, Stop
from app.inspect_checkpoint.model import Texts
from app.plots.untrusted_text import plain, shorten
from app.shell import cache, frame, state, texts_lookup, waiting
from bertcore.analysis.attribution.labelled_file import FileRun, WrongAnswer
from bertcore.finetuning import Columns

_FILE, _RUN, _USUAL = "_inspect_file", "_inspect_run", "(found by its name)"
METRIC_NAMES = {
    "accuracy": "Accuracy",
    "macro_f1": "Macro F1",
    "f1": "F1",
    "matthews": "Matthews",
    "pearson_spearman": "Pearson-Spearman mean",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "precision": "Precision",
    "recall": "Recall",
    "exact_match": "Exact match",
}
QUALITY = {"qa": "mean F1", "regress": "mean distance from the true score", "tag": "right tags"}
PAGES = {"attention": "Attention", "mixing": "Mixing", "what-if": "What if?"}
"""Pages that each error links to, as short as the columns of the links."""
_WIDTHS = {"row": 55, "text": 285, "pair": 205, "label": 75, "confidence": 92, "link": 72}
"""Pixels of the columns of errors: at a window of 1,280 a text, its labels and links are seen."""
_LONG_ANSWER = 125
"""Pixels of an answer that is a word with its tag, or some words of a text."""


def show(page: frame.Page) -> None:
    """Draw the choice of a file, its run, and what came out."""
    chosen = _choose(page)
    if chosen is None:
        return
    running: tuple[cache.BertKey, Labelled, Stop, int] | None = st.session_state.get(_RUN)
    number = 0 if running is None else running[3] + 1
    row = st.container(horizontal=True, vertical_alignment="center")
    if row.button("Run the file", type="primary", icon=":material/play_arrow:"):
        running = (page.bert_key, chosen, Stop(), number)
        st.session_state[_RUN] = running
    if running is None or running[0] != page.bert_key:
        return
    key, ran, stop, number = running
    if ran != chosen:
        st.caption(texts_lookup.TEXTS["inspect.other_run"])
    work = labelled_files.run(key, ran, stop, number)
    with frame.guard():
        found: FileRun | None = waiting.result(work, "inspect-file")
        if found is None:
            row.button("Stop and keep what is done", key="stop_keep", on_click=stop.wanted.set)
        else:
            _draw(page, ran, found)


def _choose(page: frame.Page) -> Labelled | None:
    model = inspection.model(page.bert_key)
    task = model.task
    upload = st.file_uploader(
        texts_lookup.TEXTS[f"inspect.upload_{task.name}"],
        type=labelled_files.TYPES.get(task.name, labelled_files.TABLES),
        key="inspect_upload",
        max_upload_size=labelled_files.MAX_MEGABYTES,
    )
    if upload is not None:
        known = st.session_state.get(_FILE)
        if known is None or known[0] != upload.file_id:
            path = labelled_files.receive(upload, upload.name)
            st.session_state[_FILE] = (upload.file_id, path, upload.name)
    kept = st.session_state.get(_FILE)
    if kept is None or not kept[1].is_file():
        st.caption(texts_lookup.TEXTS["inspect.no_file"])
        return None
    if upload is None:
        name = plain(shorten(kept[2], 60))
        st.caption(f"Your last file is still here: **{name}**.")
    path = kept[1]
    with frame.guard():
        names = labelled_files.column_names(path, task)
        columns = _columns(names, task.name)
        skip = st.toggle(
            "Leave out rows that cannot be read", key=state.keep("inspect_skip", False)
        )
        return Labelled(path, columns, skip)
    return None


def _columns(names: tuple[str, ...], task: str) -> Columns:
    if not names:
        return Columns()
    wanted = {"text": "Text", "text_pair": "Second text", "label": "Label"}
    if task == "tag":
        wanted = {"text": "Words", "label": "Tags"}
    elif task == "classify":
        wanted = {"text": "Text", "text_pair": "Second text", "label": "Label"}
    row = st.container(horizontal=True)
    options = [_USUAL, *names]
    picked = {
        field: row.selectbox(
            title,
            options,
            format_func=lambda name: shorten(name, 40),
            key=state.keep(f"column_{field}", _USUAL, options=options),
            width=220,
        )
        for field, title in wanted.items()
    }
    return Columns(**{field: None if name == _USUAL else name for field, name in picked.items()})


def _draw(page: frame.Page, ran: Labelled, found: FileRun) -> None:
    if not found.is_whole:
        st.warning(texts_lookup.TEXTS["inspect.partly"].format(done=f"{found.num_examples:,}"))
    for note in found.notes:
        st.caption(plain(note))
    code = texts_lookup.CODE["inspect.file"].format(
        path=page.bert_key.source, columns=ran.columns, skip=ran.skip_bad_rows
    )
    metrics, intervals, matrix = found.metrics()
    st.subheader(_count(found.num_examples), anchor=False)
    row = st.container(horizontal=True, gap="large", key="inspect_metrics")
    for name, value in metrics.items():
        low, high = intervals[name]
        box = row.container(width="content", gap=None)
        box.metric(METRIC_NAMES.get(name, name), f"{value:.3f}", width="content")
        box.caption(f"95%: {low:.3f} to {high:.3f}")
    left, right = st.container(key="inspect_run").columns(2, gap="large")
    with left:
        if matrix is not None:
            st.subheader("What is taken for what", anchor=False)
            table = pd.DataFrame(matrix, columns=[f"said {name}" for name in found.labels])
            table.insert(0, "true", found.labels)
            fig = figures.confusion_map(matrix, found.labels)
            frame.figure(fig, "inspect-confusion", table, code)
            frame.how_to_read("inspect.confusion")
        elif found.task == "regress":
            st.subheader("Predicted over true scores", anchor=False)
            table = pd.DataFrame({"true": found.gold, "predicted": found.predicted})
            fig = figures.score_dots(found.gold, found.predicted)
            frame.figure(fig, "inspect-scores", table, code)
            frame.how_to_read("inspect.scores")
    calibrated = found.calibration()
    with right if matrix is not None else left:
        if calibrated is not None:
            st.subheader("Is it as often right as it is sure?", anchor=False)
            fig = figures.reliability(calibrated)
            frame.figure(fig, "inspect-calibration", figures.calibration_table(calibrated), code)
            frame.how_to_read(
                "inspect.calibration",
                ece=f"{calibrated.expected_error:.3f}",
                mce=f"{calibrated.largest_error:.3f}",
            )
    with right if matrix is None else st.container():
        _show_slices(found, code)
    _show_errors(page, found, code)


def _count(number: int) -> str:
    return "1 example" if number == 1 else f"{number:,} examples"


def _show_slices(found: FileRun, code: str) -> None:
    st.subheader("Where is it weak?", anchor=False)
    slices = {"length": found.slices_by_length()}
    if by_label := found.slices_by_label():
        slices["label"] = by_label
    names = {"length": "By length", "label": "By true label"}
    key = state.keep("inspect_slices", "length", options=list(slices))
    by = state.value(key)
    is_share = found.task != "regress"
    name = QUALITY.get(found.task, "right answers")
    mean = float(found.quality.mean())
    fig = figures.slice_bars(slices[by], mean, is_share=is_share, name=name)
    frame.figure(fig, "inspect-slices", figures.slice_table(slices), code)
    if len(slices) > 1:
        st.segmented_control(
            "Slices",
            list(slices),
            format_func=names.__getitem__,
            key=key,
            required=True,
            label_visibility="collapsed",
        )
    frame.how_to_read("inspect.slices")


def _show_errors(page: frame.Page, found: FileRun, code: str) -> None:
    is_score = found.task == "regress"
    st.subheader("Furthest from the truth" if is_score else "Most sure, and wrong", anchor=False)
    if not found.errors:
        st.success("Not one answer is wrong.")
        return
    table = pd.DataFrame(
        [
            {
                "row": one.row,
                "true": one.gold,
                "said": one.predicted,
                "distance" if is_score else "confidence": one.severity,
                "text": one.text,
                "second text": one.text_pair,
            }
            for one in found.errors
        ]
    )
    has_pairs = not table["second text"].isna().all()
    if not has_pairs:
        table = table.drop(columns="second text")
    written = _WIDTHS["pair" if has_pairs else "text"]
    said = _LONG_ANSWER if found.task in ("tag", "qa") else _WIDTHS["label"]
    links = table.assign(
        **{title: [_link(page, name, one) for one in found.errors] for name, title in PAGES.items()}
    )

    def pick() -> None:
        rows = st.session_state["inspect_errors"]["selection"]["rows"]
        if rows:
            _open(page, found.errors[rows[0]])

    st.dataframe(
        links,
        hide_index=True,
        width="stretch",
        height=min(420, 38 + 35 * len(links)),
        key="inspect_errors",
        on_select=pick,
        selection_mode="single-row",
        column_config={
            "row": st.column_config.NumberColumn(width=_WIDTHS["row"]),
            "true": st.column_config.TextColumn(width=said),
            "said": st.column_config.TextColumn(width=said),
            "text": st.column_config.TextColumn(width=written),
            "second text": st.column_config.TextColumn(width=written),
            "confidence": st.column_config.NumberColumn(
                format="percent", width=_WIDTHS["confidence"]
            ),
            "distance": st.column_config.NumberColumn(format="%.2f", width=_WIDTHS["confidence"]),
            **{
                title: st.column_config.LinkColumn(display_text="open", width=_WIDTHS["link"])
                for title in PAGES.values()
            },
        },
    )
    frame.downloads("inspect-errors", table, code)
    shown = f"{len(found.errors):,} of {found.num_errors:,}"
    frame.how_to_read("inspect.score_errors" if is_score else "inspect.errors", shown=shown)


def _open(page: frame.Page, error: WrongAnswer) -> None:
    """Show a text of the file in the view of one text, and in all other pages."""
    state.put("text_a", error.text)
    state.put("text_b", error.text_pair or "")
    state.put("inspect_view", "text")
    state.put("inspect_label", -1)
    if error.text_pair is not None:
        state.put("inspect_pair", True)
    word = -1
    if error.word is not None:
        before = error.text.split(" ")[: error.word]
        read = Texts(page.bert_key, error.text, None)
        word = inspection.word_at(read, sum(map(len, before)) + len(before))
    state.put("inspect_word", word)


def _link(page: frame.Page, name: str, error: WrongAnswer) -> str | None:
    """Return the address of a page with this text; None for one too long for a link."""
    if len(error.text) + len(error.text_pair or "") > state.MAX_URL_CHARACTERS:
        return None
    asked = {"text_a": error.text, "text_b": error.text_pair or ""}
    if page.bert_key.source != state.default_source():
        asked["checkpoint"] = page.bert_key.source
    return f"{name}?{urlencode(asked)}"
