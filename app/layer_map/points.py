"""Labels, groups and hover texts of the points of a layer map."""

from collections import Counter
from dataclasses import dataclass
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.shared.collect import VectorTable

from ..plots import shorten, theme

COLOUR_BY = ("word", "token", "segment", "sentence", "label", "position")
MAX_GROUPS = 12  # further words get one grey: 40 colours cannot be distinguished
OTHER = "#A3A9B8"
ADDED = "special tokens"  # group of the tokens that are added to a text, such as [CLS] and [SEP]
CONTEXT = 40  # characters of the sentence that a hover shows on each side of a token


@dataclass(frozen=True, slots=True, eq=False)
class Colouring:
    """The colour of each point: either a group of few, or a place on a scale."""

    title: str
    groups: tuple[str, ...]
    """Names of the groups; () for a scale."""
    colours: tuple[str, ...]
    """Colour of each group."""
    codes: NDArray[np.int64]
    """Group of each point, [N]; its place on the scale if there are no groups."""


def colouring(table: VectorTable, by: str) -> Colouring:
    """Group the points by one of COLOUR_BY.

    The most frequent groups get a colour each and the rest one grey; positions, and sentences if
    there are more than MAX_GROUPS, are a scale. ValueError if `by` is not one of COLOUR_BY.
    """
    if by == "position":
        return Colouring("position", (), (), table.positions)
    if by == "sentence":
        if len(set(table.sentence_ids.tolist())) > MAX_GROUPS:
            return Colouring("sentence", (), (), table.sentence_ids + 1)
        texts = [shorten(table.sentences[i].text, 24) for i in table.sentence_ids]
        names = [f"{i + 1}: {text}" for i, text in zip(table.sentence_ids, texts, strict=True)]
    elif by == "segment":
        names = [
            ADDED if special else "sentence B" if segment else "sentence A"
            for special, segment in zip(table.is_special, table.segment_ids, strict=True)
        ]
        fixed = {
            "sentence A": theme.SEGMENT_A,
            "sentence B": theme.SEGMENT_B,
            ADDED: theme.SPECIAL,
        }
        groups = tuple(name for name in fixed if name in names)
        return Colouring(by, groups, tuple(fixed[name] for name in groups), _codes(names, groups))
    elif by == "label":
        names = [label or "no label" for label in table.labels]
    elif by in ("word", "token"):
        names = list(table.words if by == "word" else table.tokens)
    else:
        raise ValueError(f"colour is {by!r}; expected one of {', '.join(COLOUR_BY)}.")
    added = {name for name, special in zip(names, table.is_special, strict=True) if special}
    return _by_name(by, names, added)


def _by_name(title: str, names: list[str], added: set[str]) -> Colouring:
    counts = Counter(names)
    kept = [name for name, _ in counts.most_common(MAX_GROUPS)]
    if len(counts) > MAX_GROUPS:
        kept = kept[: MAX_GROUPS - 1]
        others = f"{len(counts) - len(kept)} others"
        names = [name if name in kept else others for name in names]
        kept.append(others)
    first = {name: place for place, name in reversed(list(enumerate(names)))}
    groups = sorted(kept, key=lambda name: (name.endswith(" others"), first[name]))
    colours = [
        theme.SPECIAL if name == "no label" or name in added else theme.CATEGORICAL[place]
        for place, name in enumerate(groups)
    ]
    if len(counts) > MAX_GROUPS:
        colours[-1] = OTHER
    return Colouring(title, tuple(groups), tuple(colours), _codes(names, tuple(groups)))


def _codes(names: list[str], groups: tuple[str, ...]) -> NDArray[np.int64]:
    place = {name: index for index, name in enumerate(groups)}
    return np.array([place[name] for name in names])


def hover_texts(table: VectorTable) -> list[str]:
    """Return for each point its token in bold within its sentence, and its attributes.

    The text is in Plotly's subset of HTML; everything from a visitor is escaped.
    """
    texts = []
    for i, (token, word, span) in enumerate(
        zip(table.tokens, table.words, table.spans, strict=True)
    ):
        sentence = table.sentences[table.sentence_ids[i]]
        text = sentence.text_pair or "" if table.segment_ids[i] else sentence.text
        is_text = table.word_ids[i] < 0 and not table.is_special[i]
        if is_text:  # a whole sentence
            lines = [theme.escape(line) for line in wrap(shorten(token, 4 * CONTEXT), 60)]
        else:
            lines = [f"<b>{theme.escape(shorten(token, 60))}</b>"]
        if word not in (token, f"##{token}"):
            lines[0] += f" in {theme.escape(shorten(word, 40))}"
        if span != (0, 0):
            lines.append(_in_context(text, *span))
        elif table.is_special[i]:
            lines.append(theme.escape(shorten(text, 2 * CONTEXT)))
        facts = [f"sentence {table.sentence_ids[i] + 1}"]
        if not is_text:
            facts.append(f"position {table.positions[i]}")
        if sentence.label:
            facts.append(f"label {theme.escape(shorten(sentence.label, 40))}")
        texts.append("<br>".join([*lines, ", ".join(facts)]))
    return texts


def point_labels(table: VectorTable) -> list[str]:
    """Return a short name of each point, to be drawn beside it."""
    return [theme.escape(shorten(token, 22)) for token in table.tokens]


def _in_context(text: str, start: int, end: int) -> str:
    before, after = text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT]
    before = ("…" if start > CONTEXT else "") + before
    after += "…" if end + CONTEXT < len(text) else ""
    return f"{theme.escape(before)}<b>{theme.escape(text[start:end])}</b>{theme.escape(after)}"
