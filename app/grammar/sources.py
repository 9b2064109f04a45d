"""Where the minimal pairs come from: ours, the visitor's list, or a file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.data.files import BadRows
from bertcore.data.tables import TABLE_FILES
from bertcore.grammar import PairFile, bundled_pairs, pairs_of_list, read_pairs

from ..shell import Field, UploadSource, one_of
from ..shell.uploads import Copy
from ..sources import my_sentences

SOURCES = {"own": "Our 200", **my_sentences.OFFERED, "file": "Upload a file"}
SOURCE = Field("grammar_source", "own", tuple(SOURCES))
COLUMN = Field("grammar_column", "")
MOST_PAIRS = 10_000
"""Most pairs of a file that the page scores; `bertscope evaluate` scores all."""
MOST_GROUPS = 40
"""Most groups of the column that is shown first: with more, the picture gets long."""
ABOUT_FILES = (
    f"A table ({TABLE_FILES}) with a good and a bad sentence in columns such as `sentence_good` "
    "and `sentence_bad`, as in BLiMP. Other columns group the pairs."
)
NAME_THEM = "Name the columns of the sentences `sentence_good` and `sentence_bad`."
_OPTION = re.compile(r"Name one with --\w+\.")
"""Advice that fits only the command line."""


@dataclass(frozen=True, slots=True)
class ExamSource:
    """Minimal pairs, and a key that identifies them."""

    file: PairFile = field(compare=False)
    key: str
    """Equal for equal pairs, and short."""
    code: str = field(compare=False)
    """Python that makes `file`."""


def choose(below: DeltaGenerator) -> ExamSource | None:
    """Draw the choice of a source and its input; return None while there are no pairs.

    Args:
        below: Where the visitor's list is drawn, which is too wide for the row of choices.

    Raises:
        ValueError: If what was uploaded cannot be read.
    """
    source = one_of("Pairs", SOURCES, SOURCE, with_label=True)
    if source == "own":
        return ExamSource(bundled_pairs(), "own", "file = bundled_pairs()\n")
    if source == my_sentences.MINE:
        with below:
            return _mine()
    chosen = _FILE.choose()
    if chosen is None:
        st.caption(ABOUT_FILES)
    return chosen


def _mine() -> ExamSource | None:
    mine = my_sentences.choose()
    if mine is None:
        return None
    code = f"from bertcore.grammar import pairs_of_list\n\n{mine.code}file = pairs_of_list(mine)\n"
    return ExamSource(pairs_of_list(mine.found), mine.key, code)


def choose_column(file: PairFile) -> str:
    """Draw the choice of the column that groups the pairs; "" if there is none."""
    if not file.columns:
        return ""
    sizes = {
        column: len({pair.groups[place] for pair in file.pairs})
        for place, column in enumerate(file.columns)
    }
    short = [column for column, size in sizes.items() if size <= MOST_GROUPS]
    default = short[-1] if short else file.columns[0]
    options = list(file.columns)
    if len(options) == 1:
        return options[0]
    st.selectbox(
        "Group by",
        options,
        key=COLUMN.key(default=default, options=options),
        format_func=lambda name: name.replace("_", " "),
        width=150,
    )
    return COLUMN.value


def _chosen(copies: Sequence[Copy]) -> ExamSource:
    (copy,) = copies
    file = _read(copy)
    most = f"most={MOST_PAIRS:_}, " if len(file.pairs) < file.num_pairs else ""
    code = f"file = read_pairs(Path({copy.name!r}), {most}bad_rows=BadRows(skip=True))\n"
    return ExamSource(file, copy.digest, code)


_FILE = UploadSource(
    key="grammar_upload",
    label="Minimal pairs",
    read=_chosen,
    about=lambda chosen: f"{len(chosen.file.pairs):,} pairs",
    instead="Score it with `bertscope evaluate --task minimal-pairs`.",
    shows_label=False,
)


def _read(copy: Copy) -> PairFile:
    """Return the pairs of an uploaded file; if more than MOST_PAIRS, every n-th.

    Raises:
        ValueError: If it cannot be read.
    """
    bad_rows = BadRows(skip=True)
    try:
        file = copy.apart(read_pairs, most=MOST_PAIRS, bad_rows=bad_rows)
    except ValueError as error:
        raise ValueError(_OPTION.sub(NAME_THEM, str(error))) from error
    notes = (*file.notes, *map(copy.named, bad_rows.notes()))
    step = -(-file.num_pairs // MOST_PAIRS)
    if step > 1:
        every = {2: "2nd", 3: "3rd"}.get(step, f"{step}th")
        notes += (
            f"Every {every} of {file.num_pairs:,} pairs is scored here; `bertscope evaluate "
            "--task minimal-pairs` scores all.",
        )
    return replace(file, notes=notes)
