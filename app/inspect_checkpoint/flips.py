"""Texts of a labelled file with the words for one group of people swapped for another's."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from bertcore.analysis.attribution import FileRun
from bertcore.bias import FlippedText, Flips, flip_file, parse_pairs
from bertcore.bias.flips import CANNOT_TELL
from bertcore.debiasing import swap_pairs, swap_sets
from bertcore.tasks.model import TaskModel
from bertcore.tasks.sequence import SequenceTask

from ..component import clicked_row, hear
from ..plots import exactly, percent, plain, shorten_middle
from ..plots.cell_table import records, without_empty
from ..shell import TEXT_A, TEXT_B, Compute, Field, Picture, Progress, cache, frame, one_of
from ..shell.jobs.waiting import Pending
from ..task_model import model as inspection
from ..task_model.choices import LABEL, PREDICTED, READ_PAIR, VIEW, WORD
from ..task_model.file_choice import Labelled, Stop

OWN = "own"
SETS = {**{name: name.capitalize() for name in swap_sets()}, OWN: "Your own pairs"}
GROUP_NAMES = {"gender": ("women", "men")}
"""What the first and the second words of a set stand for."""
OWN_NAMES = ("the first group", "the second group")
SET = Field("inspect_swap_set", next(iter(SETS)), tuple(SETS))
PAIRS = Field("inspect_swap_pairs", "")
OPENED = Field("inspect_swap_open", "before", ("before", "after"))
OPEN = {"before": "Open the text", "after": "Open the swapped text"}
_RUN = "_inspect_flips"


def flip_table(result: Flips) -> pd.DataFrame:
    """Return a row for each text, changed answers first, the largest change first."""
    table = records(result.texts, "row", "true=gold", "before", "after", "change")
    swaps = ["; ".join(f"{a} → {b}" for a, b in one.swaps) for one in result.texts]
    table = table.assign(swaps=swaps).join(
        records(result.texts, "swapped text=flipped", "second text=flipped_pair")
    )
    return without_empty(table, "second text")


FLIPS = Picture(
    name="inspect-flips",
    table=flip_table,
    how=(
        "Each word of a pair is replaced by the other one, in both directions, and the model "
        "answers again. *Change* is the change in the probability of its first answer (with "
        "several labels, of the label that changes most; with a score, of the score). Changed "
        "answers come first ({shown}). Click the box at the left of a row to see why. {cannot}"
    ),
    code="""from pathlib import Path

from bertcore.bias import flip_file
from bertcore.configs import Columns
from bertcore.tasks import open_task_model

model = open_task_model({path!r})
pairs = {pairs}
flips = flip_file(model, Path("my-file"), pairs, columns={columns}, skip_bad_rows={skip})
flips.changed, flips.leans, flips.texts
""",
)


def show(page: frame.Page, labelled: Labelled, run: FileRun, code: Mapping[str, Any]) -> None:
    """Draw the choice of words, and what swapping them changes; nothing for other tasks.

    Args:
        page: The page.
        labelled: The file.
        run: The answers to it.
        code: Fills the braces of the Python.
    """
    if not isinstance(run.task, SequenceTask):
        return
    st.header("Does a swap of group words change the answer?", anchor=False)
    row = st.container(horizontal=True, vertical_alignment="center")
    name = one_of("Words", SETS, SET, where=row)
    if name == OWN:
        st.text_area(
            "Pairs of words, such as woman=man, girl=boy",
            key=PAIRS.key(),
            height=80,
            max_chars=20_000,
        )
    running: tuple[cache.BertKey, Labelled, str, str, Stop] | None = st.session_state.get(_RUN)
    chosen = (page.bert_key, labelled, name, PAIRS.value if name == OWN else "")
    if row.button("Swap the words", icon=":material/swap_horiz:"):
        running = (*chosen, Stop())
        st.session_state[_RUN] = running
    if running is None or running[:2] != chosen[:2]:
        return
    if running[2:4] != chosen[2:]:
        st.caption("Below are the results for the previous words. Swap the words to update them.")
    with frame.guard():
        _, _, name, typed, stop = running
        pairs = parse_pairs(typed) if name == OWN else swap_pairs(name)
        task = inspection.TaskKey(page.bert_key)
        try:
            compute = Compute(name=FLIPS.name)
            flips = compute(_flipped, task, labelled, pairs, stop, run.num_examples)
        except Pending:
            label = "Stop and keep the results so far"
            row.button(label, key="stop_flips", on_click=stop.wanted.set)
            raise
        for note in flips.notes:
            st.caption(plain(note))
        _draw(page, flips, GROUP_NAMES.get(name, OWN_NAMES), {**code, "pairs": pairs})


def _flipped(
    model: TaskModel,
    labelled: Labelled,
    pairs: tuple[tuple[str, str], ...],
    stop: Stop,
    total: int,
    *,
    progress: Progress,
) -> Flips:
    progress(0.0, "Reading the file")

    def on_rows(done: int) -> None:
        progress(min(1.0, done / total), f"{done:,} of about {total:,} examples")

    return flip_file(
        model,
        labelled.path,
        pairs,
        columns=labelled.columns,
        skip_bad_rows=labelled.skip_bad_rows,
        rows_at_once=256,
        on_rows=on_rows,
        should_stop=stop.wanted.is_set,
    )


def _draw(page: frame.Page, flips: Flips, groups: tuple[str, str], code: Mapping[str, Any]) -> None:
    if not flips.is_whole:
        st.warning(f"Stopped: the results below are for the first {flips.num_examples:,} examples.")
    if not flips.num_with_words:
        st.info(f"None of {flips.num_examples:,} texts contains one of these words.")
        return
    st.markdown(in_words(flips))
    for line in leans_in_words(flips, groups):
        st.markdown(f"- {line}")

    column = st.column_config
    one_of("What a click opens", OPEN, OPENED)
    st.dataframe(
        flip_table(flips),
        hide_index=True,
        width="stretch",
        height=min(420, 38 + 35 * len(flips.texts)),
        key="inspect_flips",
        on_select=hear("inspect_flips", clicked_row, lambda row: _open(flips.texts[row])),
        selection_mode="single-row",
        column_config={
            "row": column.NumberColumn(width=55),
            "true": column.TextColumn(width=75),
            "before": column.TextColumn(width=75),
            "after": column.TextColumn(width=75),
            "change": column.NumberColumn(format="%+.3f", width=80),
            "swaps": column.TextColumn(width=200),
        },
    )
    FLIPS.offer(
        page,
        flips,
        setup="",
        record=flips,
        shown=f"{len(flips.texts):,} of {flips.num_with_words:,}",
        cannot=CANNOT_TELL,
        **code,
    )


def in_words(flips: Flips) -> str:
    """Return how many texts contain a word, and how many answers change, as Markdown."""
    num = flips.num_with_words
    hold = "text contains" if num == 1 else "texts contain"
    line = f"**{num:,} of {flips.num_examples:,}** {hold} such a word."
    if flips.changed is not None:
        changed = flips.changed
        line += (
            f" Swapping them changes **{percent(changed.mean)}** of the answers (95%: "
            f"{percent(changed.low)} to {percent(changed.high)})."
        )
    what = "probability of the first answer"
    if flips.changed is None:
        what = "score"
    elif flips.has_label_sets:
        what = "probability of the label that changes most"
    return f"{line} The {what} moves by {flips.change.mean:.3f} on average."


def leans_in_words(flips: Flips, groups: tuple[str, str]) -> list[str]:
    """Return how the same text is answered with words of either group, the largest lean first."""
    first, second = groups
    ordered = sorted(flips.leans, key=lambda one: -abs(one.difference.mean))
    if len(ordered) == 2 and not flips.has_label_sets:
        ordered = ordered[:1]  # of two labels, which add up to 1, one says it all
    lines = []
    for one in ordered[:3]:
        difference = one.difference
        what = "score" if one.label is None else f"probability of *{_name(one.label)}*"
        lines.append(
            f"With words for {second} instead of {first}, the {what} changes by "
            f"**{exactly(difference.mean, 3)}** on average (95%: {exactly(difference.low, 3)} to "
            f"{exactly(difference.high, 3)}; {difference.num_cases:,} texts with words of one side "
            "only)."
        )
    return lines


def _name(label: str) -> str:
    return plain(shorten_middle(label))


def _open(one: FlippedText) -> None:
    """Show a text in the view of one text, and on all other pages."""
    is_after = OPENED.value == "after"
    pair = one.flipped_pair if is_after else one.text_pair
    TEXT_A.put(one.flipped if is_after else one.text)
    TEXT_B.put(pair or "")
    VIEW.put("text")
    LABEL.put(PREDICTED)
    WORD.put(PREDICTED)
    if pair is not None:
        READ_PAIR.put(True)
