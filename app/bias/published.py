"""Published sets: shares by kind, and every item, which can be left out."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.bias import (
    MEASURES,
    GapItem,
    GapScore,
    PronounItem,
    PronounScore,
    StereotypePair,
    StereotypeScore,
    pronoun_shares,
    read_crows_pairs,
    read_stereoset,
    read_winobias,
    score_crows_pairs,
    score_pronouns,
    score_stereoset,
    share_rows,
    stereoset_scores,
    stereotype_shares,
)
from bertcore.data.files import BadRows, kind_of
from bertcore.data.texts_file import shown_name
from bertcore.grammar import TokenCounts
from bertcore.model import Model

from ..plots import plain, records
from ..plots.charts import Intervals
from ..shell import Compute, Field, Picture, Progress, UploadSource, frame, one_of
from ..shell.source import Incomplete
from ..shell.uploads import Copy, read_apart
from ..sources import my_sentences

MOST_ITEMS = 3000
"""Items that the page scores; `bertscope bias` scores all."""
ABOUT = (
    "CrowS-Pairs (`crows_pairs_anonymized.csv`), StereoSet (`dev.json`), or both files of WinoBias "
    "(`pro_stereotyped_...` and `anti_stereotyped_...`), as published by their authors; also "
    "compressed (.gz, .bz2, .xz, .zip). They contain offensive sentences and are not shipped."
)

_WINOBIAS = re.compile(rb"(?:\xef\xbb\xbf)?\d+\s+[^\[\],]*\[[^\[\]]+\].*\[[^\[\]]+\]")
"""The first line of one of its files."""

SOURCES = {"published": "Published sets", **my_sentences.OFFERED}
SOURCE = Field("bias_pairs", "published", tuple(SOURCES))

Items = tuple[StereotypePair, ...] | tuple[GapItem, ...] | tuple[PronounItem, ...]


class Uploaded(NamedTuple):
    """The items of what was uploaded, and a key that identifies them."""

    items: Items
    key: str
    notes: tuple[str, ...]
    files: str
    """The files in Python, as the arguments of the reader."""
    mine: str = ""
    """Python that makes the items, if they are of the visitor's list."""


def choose() -> Uploaded | None:
    """Draw the box for files; return what was read, kept across pages, or None.

    Raises:
        ValueError: If what was uploaded cannot be read.
    """
    if one_of("Pairs", SOURCES, SOURCE) == my_sentences.MINE:
        mine = my_sentences.choose()
        return None if mine is None else _of_list(mine)
    chosen = _FILES.choose()
    if chosen is None:
        st.caption(ABOUT)
    return chosen


def _of_list(mine: my_sentences.MySentences) -> Uploaded:
    """Return the lines with two sentences; ValueError if there is none."""
    items = tuple(
        StereotypePair(line.text, line.other, "my sentences", row)
        for row, line in enumerate(mine.found.lines, start=1)
        if line.other
    )
    if not items:
        raise ValueError(
            "no line of the list has two sentences. Write two that differ in the group they are "
            "about, with a tab or ||| between them: the more stereotyping one first."
        )
    single = len(mine.found.lines) - len(items)
    notes = (f"Lines of one sentence are left out: {single:,}.",) if single else ()
    return Uploaded(items, mine.key, notes, "", mine.code)


def read_uploaded(copies: Sequence[Copy]) -> Uploaded:
    """Return the items of one or two files.

    Raises:
        Incomplete: If it is the first of two.
        ValueError: If there are more than two, or they are none of the sets.
    """
    if len(copies) > 2:
        raise ValueError(f"there are {len(copies)} files; expected one, or the two of WinoBias.")
    bad_rows = BadRows(skip=True)

    def named(sentence: str) -> str:
        for copy in copies:
            sentence = copy.named(sentence)
        return sentence

    try:
        items, given = _read(copies, bad_rows)
    except Incomplete:
        raise
    except ValueError as error:
        raise ValueError(named(str(error))) from error
    notes = list(map(named, bad_rows.notes()))
    step = -(-len(items) // MOST_ITEMS)
    if step > 1:
        notes.append(
            f"{-(-len(items) // step):,} of {len(items):,} items, evenly spaced, are scored here; "
            "`bertscope bias` scores all."
        )
    # With the names, which show which file is the stereotype's.
    return Uploaded(items[::step], " ".join(c.digest for c in copies), tuple(notes), given)


def _read(copies: Sequence[Copy], bad_rows: BadRows) -> tuple[Items, str]:
    if len(copies) == 2:
        # In either order: the names show which file is the stereotype's.
        pro, anti = sorted(copies, key=lambda each: "anti" in each.name.lower())
        items = read_apart(pro.path, read_winobias, anti.path, bad_rows=bad_rows)
        return items, _paths(pro.name, anti.name)
    (copy,) = copies
    path = copy.path
    with path.open("rb") as file:
        if _WINOBIAS.match(file.readline(1000)):
            raise Incomplete(
                f"{shown_name(copy.name)} is one of the two files of WinoBias. Add the other one."
            )
    if path.suffix == ".stereoset":
        return read_apart(path, read_stereoset, bad_rows=bad_rows), _paths(copy.name)
    return read_apart(path, read_crows_pairs, bad_rows=bad_rows), _paths(copy.name)


def _paths(*names: str) -> str:
    return ", ".join(f"Path({name!r})" for name in names)


def _kind(name: str, path: Path) -> str:
    """Return the ending of StereoSet's JSON, or that of a table."""
    text = path.read_bytes()
    is_json = text.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{")
    return ".stereoset" if is_json and b'"intrasentence"' in text else kind_of(Path(name))[:20]


_FILES = UploadSource(
    key="bias_upload",
    label="Published sets",
    read=read_uploaded,
    about=lambda uploaded: f"{len(uploaded.items):,} items",
    accepts_several=True,
    most=50_000_000,
    instead="Score it with `bertscope bias`.",
    kind=_kind,
    shows_label=False,
)


T = TypeVar("T")
Rows = list[dict[str, Any]]  # mean, low and high of each measure and group, as from `share_rows`
SHOW_ITEMS = Field("bias_items", False)
_KEPT, _OPENED = "_bias_kept", "_bias_opened"
WARNING = "Show the items: they repeat stereotypes and insults"


SHARES = Intervals(
    table=pd.DataFrame, name="group", number="items", value="mean", by="measure", line=0.5
)
CROWS = Picture(
    name="bias-crows-pairs",
    chart=replace(SHARES, x_title="stereotyping sentence scores higher"),
    how=(
        "How often the stereotyping one of two sentences that differ in the group scores higher; "
        "50% is no preference. *pll*: pseudo-log-likelihood of the words that both share (Nangia "
        "et al. 2020); *aul*, *aula*: all words with nothing masked, for aula weighted by "
        "attention (Kaneko and Bollegala 2022); *frequency*: the words' frequency alone. Lines are "
        "95% intervals (Wilson). Blodgett et al. (2021) find many pairs unclear or invalid: "
        "inspect them and leave them out below."
    ),
    code="""
from pathlib import Path
from bertcore.bias import MEASURES, read_crows_pairs, score_crows_pairs, stereotype_shares
from bertcore.data.files import BadRows

items = read_crows_pairs({files}, bad_rows=BadRows(skip=True))
scores = score_crows_pairs(bert, items)
for measure in MEASURES[:3]:
    print(measure, stereotype_shares(scores, measure))
""",
    needs=frozenset({"mlm"}),
)
MY_PAIRS = Picture(
    name="bias-my-pairs",
    chart=replace(SHARES, x_title="first sentence scores higher"),
    how=(
        "How often the first sentence of a line scores higher than the second; 50% is no "
        "preference. The measures are those of CrowS-Pairs: *pll* sums over the words that both "
        "sentences share (Nangia et al. 2020), *aul* and *aula* over all words with nothing masked "
        "(Kaneko and Bollegala 2022), *frequency* knows the words' frequency alone. So write pairs "
        "that differ in the group's words only. Lines are 95% intervals (Wilson)."
    ),
    code="""
from bertcore.bias import MEASURES, StereotypePair, score_crows_pairs, stereotype_shares
{mine}
items = [StereotypePair(more, less, "mine", row) for row, (more, less) in enumerate(mine.pairs)]
scores = score_crows_pairs(bert, items)
for measure in MEASURES[:3]:
    print(measure, stereotype_shares(scores, measure)[0])
""",
    needs=frozenset({"mlm"}),
)
STEREOSET = Picture(
    name="bias-stereoset",
    chart=SHARES,
    how=(
        "*language*: how often a word that makes sense beats one that does not (100% is ideal); "
        "*stereotype*: how often the stereotype beats the anti-stereotype (50% is no preference); "
        "*ICAT* combines both, and rewards a worse model that is fair by chance (Nadeem et al. "
        "2021). Lines are 95% intervals by bootstrap over items. Blodgett et al. (2021) find many "
        "items unclear or invalid: leave them out below."
    ),
    code="""
from pathlib import Path
from bertcore.bias import read_stereoset, score_stereoset, stereoset_scores
from bertcore.data.files import BadRows

items = read_stereoset({files}, bad_rows=BadRows(skip=True))
stereoset_scores(score_stereoset(bert, items))
""",
    needs=frozenset({"mlm"}),
)
WINOBIAS = Picture(
    name="bias-winobias",
    chart=replace(SHARES, x_title="stereotype's pronoun preferred"),
    how=(
        "How often the stereotypical pronoun of an occupation is more probable than the other one "
        "(Zhao et al. 2018, scored at a masked pronoun). 50% is no preference, but a model that "
        "always prefers *he* gets 50% too: its occupations are at 0% and 100%. Lines are 95% "
        "intervals (Wilson)."
    ),
    code="""
from pathlib import Path
from bertcore.bias import pronoun_shares, read_winobias, score_pronouns
from bertcore.data.files import BadRows

items = read_winobias({files}, bad_rows=BadRows(skip=True))
pronoun_shares(score_pronouns(bert, items))
""",
    needs=frozenset({"mlm"}),
)


def show(page: frame.Page) -> None:
    """Draw the box for files, then shares and items of what was uploaded."""
    chosen = choose()
    if chosen is None:
        return
    for note in chosen.notes:
        st.caption(plain(note))
    compute = Compute(name="published", stopped="Stopped. Nothing was scored.")
    scores = compute(_scored, page.bert_key, chosen.items)
    place = st.container()
    if isinstance(chosen.items[0], StereotypePair):
        _show_crows(page, chosen, scores, place)
    elif isinstance(chosen.items[0], GapItem):
        _show_stereoset(page, chosen, scores, place)
    else:
        _show_winobias(page, chosen, scores, place)


def _scored(bert: Model, items: Items, *, progress: Progress) -> list[Any]:
    """Return the score of each item, by the measures of its set."""

    def report(done: float) -> None:
        progress(done, f"{done * len(items):,.0f} of {len(items):,}")

    if isinstance(items[0], StereotypePair):
        counts = TokenCounts.of_checkpoint(bert)
        return score_crows_pairs(bert, items, counts=counts, progress=report)
    if isinstance(items[0], GapItem):
        return score_stereoset(bert, items, progress=report)
    progress(0.0, f"{len(items):,} pronouns")
    return score_pronouns(bert, items)


def _show_crows(
    page: frame.Page, chosen: Uploaded, scores: list[StereotypeScore], place: DeltaGenerator
) -> None:
    table = records(scores, "kind=pair.kind", "stereotyping=pair.more", "other=pair.less")
    for measure in MEASURES:
        table[str(measure)] = [score.more[measure] - score.less[measure] for score in scores]
    table = table.dropna(axis="columns", how="all")
    about = "How much higher the stereotyping sentence scores, in nats."
    left = _kept(scores, table, chosen.key, about)
    with place, frame.guard():
        measures = [measure for measure in MEASURES if measure in table.columns]
        by_measure = {str(measure): stereotype_shares(left, measure) for measure in measures}
        if chosen.mine:
            everything = {measure: shares[:1] for measure, shares in by_measure.items()}
            MY_PAIRS.show(page, share_rows(everything), mine=chosen.mine)
        else:
            CROWS.show(page, share_rows(by_measure), files=chosen.files)


def _show_stereoset(
    page: frame.Page, chosen: Uploaded, scores: list[GapScore], place: DeltaGenerator
) -> None:
    log_p = np.array([score.log_p for score in scores])
    table = pd.DataFrame(
        {
            "kind": [score.item.kind for score in scores],
            "context": [score.item.context for score in scores],
            "stereotype": [score.item.words[0] for score in scores],
            "anti-stereotype": [score.item.words[1] for score in scores],
            "unrelated": [score.item.words[2] for score in scores],
            "stereotype - anti": log_p[:, 0] - log_p[:, 1],
        }
    )
    about = "How much more probable the stereotype is, in nats per word piece."
    left = _kept(scores, table, chosen.key, about)
    with place, frame.guard():
        groups = stereoset_scores(left)
        measures = {"language": "language_model", "stereotype": "stereotype", "ICAT": "icat"}
        rows: Rows = []
        for measure, name in measures.items():
            for group in groups:
                mean, low, high = (percent / 100 for percent in getattr(group, name))
                about_it = {"group": group.group, "items": group.num_items, "measure": measure}
                rows.append({**about_it, "mean": mean, "low": low, "high": high})
        STEREOSET.show(page, rows, files=chosen.files)


def _show_winobias(
    page: frame.Page, chosen: Uploaded, scores: list[PronounScore], place: DeltaGenerator
) -> None:
    about_items = ("occupation=item.occupation", "sentence=item.text", "stereotype=item.stereotype")
    table = records(scores, *about_items, "log ratio=log_ratio")
    table["stereotype"] = table["stereotype"].map(" ".join)
    about = "How much more probable the stereotypical pronoun is, in nats."
    left = _kept(scores, table, chosen.key, about)
    with place, frame.guard():
        everything, *occupations = pronoun_shares(left)
        ordered = [everything, *sorted(occupations, key=lambda share: -share.mean)]
        WINOBIAS.show(page, share_rows({"share": ordered}), files=chosen.files)


def _kept(scores: list[T], table: pd.DataFrame, key: str, about: str) -> list[T]:
    """Draw the items if they are asked for, a row for each score; return those that count."""
    kept: dict[str, list[bool]] = st.session_state.setdefault(_KEPT, {})
    counts = kept.setdefault(key, [True] * len(table))
    st.toggle(WARNING, key=SHOW_ITEMS.key())
    opened: tuple[str, int, list[bool]] | None = st.session_state.get(_OPENED)
    if not SHOW_ITEMS.value:
        st.session_state[_OPENED] = (key, opened[1] if opened else 0, [])
    else:
        if opened is None or opened[0] != key or not opened[2]:
            # A table that is opened again begins with what was left out before.
            opened = (key, (opened[1] if opened else 0) + 1, counts)
            st.session_state[_OPENED] = opened
        st.caption(f"{about} Untick an item to leave it out; the scores are then recomputed.")
        numbers = [name for name in table.columns if table[name].dtype.kind == "f"]
        column = st.column_config
        edited = st.data_editor(
            table.assign(counts=opened[2]),
            key=f"bias_editor_{opened[1]}",
            hide_index=True,
            disabled=list(table.columns),
            column_order=["counts", *table.columns],
            height=420,
            column_config={
                "counts": column.CheckboxColumn(width=70),
                **{name: column.NumberColumn(format="%+.2f", width=110) for name in numbers},
            },
        )
        counts = kept[key] = [bool(value) for value in edited["counts"]]
    number = counts.count(False)
    if number:
        st.caption(f"{number:,} of {len(counts):,} items are left out.")
    return [score for score, is_kept in zip(scores, counts, strict=True) if is_kept]
