"""Tags of entities (IOB, BIOES, BILOU ...), and the same entities in the tags of a checkpoint."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from bertcore.data.examples import Example, TaggedExample, where
from bertcore.data.files import BadRows
from bertcore.data.labels import (
    FileLabels,
    describe_match,
    describe_unseen,
    match_labels,
    some_labels,
    write_label_map,
)

OUTSIDE = "O"
_PLAIN = {"B": "B", "I": "I", "M": "I", "E": "E", "L": "E", "S": "S", "U": "S", "W": "S"}
"""From the letters of BIOES, BILOU and BMEWO to those of BIOES, which seqeval knows."""
_LETTERS = {(True, True): "SUWBI", (True, False): "BI", (False, True): "ELIM", (False, False): "IM"}
"""Letters of the first and last word of an entity, the most telling first."""
_PREFIX = re.compile(r"(?P<letter>[BIMELSUW])([-_:/.])(?P<kind>.+)", re.IGNORECASE | re.DOTALL)
_SUFFIX = re.compile(r"(?P<kind>.+)([-_:/.])(?P<letter>[BIMELSUW])", re.IGNORECASE | re.DOTALL)
_NO_TAG = re.compile(r"\[?(CLS|SEP|PAD)\]?|<?/?(pad|start|stop|s)>?|X|-X-", re.IGNORECASE)
"""Classes that a tagger has for special tokens and for later pieces of a word."""
_NO_MARKS = ("", "-100", "-1")
"""What stands for the tag of a word that has none."""
_UNNAMED = "entity"
"""Type of the entities whose tags are B and I alone."""


class Entity(NamedTuple):
    """An entity: its type, and its words from `first` to before `end`."""

    kind: str
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class TagScheme:
    """How the tags of a file or of a checkpoint mark entities."""

    form: Literal["prefix", "suffix", "bare", "letter"]
    """B-PER, PER-B, PER alone, or B alone."""
    separator: str
    letters: str
    """Those that occur, in capitals, in the order of the alphabet; "" for bare types."""
    is_lower: bool = False
    """Whether they are small letters."""
    outside: str = OUTSIDE

    @property
    def name(self) -> str:
        """What people call it."""
        letters = set(self.letters)
        if self.form == "bare":
            return "types without B- and I-"
        if letters & set("LU"):
            return "BILOU"
        return "BMES" if letters & set("MW") else "BIOES" if letters & set("ES") else "IOB"

    def plain(self, tag: str) -> str:
        """Return a tag as seqeval reads it: B-, I-, E- or S- with the type, or O."""
        if self.form == "bare":
            return OUTSIDE if _is_outside(tag) else f"I-{tag}"
        if self.form == "letter":
            return f"{_PLAIN[tag]}-{_UNNAMED}" if tag in _PLAIN else OUTSIDE
        parts = (_PREFIX if self.form == "prefix" else _SUFFIX).fullmatch(tag)
        if parts is None or parts[2] != self.separator:
            return OUTSIDE
        return f"{_PLAIN[parts['letter'].upper()]}-{parts['kind']}"

    def entities(self, tags: Sequence[str]) -> list[Entity]:
        """Return the entities of a sentence.

        Source: conlleval and seqeval's default mode, which read each sequence of tags, valid or
            not: an entity begins at B and S, after O, E and S, and where the type changes.
        """
        entities: list[Entity] = []
        before = OUTSIDE
        for place, tag in enumerate([*map(self.plain, tags), OUTSIDE]):
            letter, kind = tag[0], tag[2:]
            if tag != OUTSIDE and before[0] in "BI" and letter in "IE" and kind == before[2:]:
                entities[-1] = entities[-1]._replace(end=place + 1)
            elif tag != OUTSIDE:
                entities.append(Entity(kind, place, place + 1))
            before = tag
        return entities

    def tags(
        self, entities: Iterable[Entity], length: int, known: Container[str] | None = None
    ) -> list[str]:
        """Return the tags of a sentence of `length` words with these entities.

        A head's `known` tags may lack some, such as B-PER where I-PER begins entities.
        """
        tags = [self.outside] * length
        for kind, first, end in entities:
            for place in range(first, end):
                at = place == first, place == end - 1
                fit = [self._tag(kind, letter) for letter in _LETTERS[at] if letter in self.letters]
                fit = fit or [self._tag(kind, "I")]
                tags[place] = next((tag for tag in fit if known is None or tag in known), fit[0])
        return tags

    def _tag(self, kind: str, letter: str) -> str:
        if self.form == "bare":
            return kind
        letter = letter.lower() if self.is_lower else letter
        if self.form == "letter":
            return letter
        return self.separator.join((letter, kind) if self.form == "prefix" else (kind, letter))

    def standard(self) -> TagScheme:
        """Return the scheme in which a new head learns these tags: IOB1 becomes IOB2."""
        if self.form in ("bare", "letter"):
            return self
        return TagScheme("prefix", "-", "".join(sorted({*self.letters, "B"})))

    def kinds(self, tags: Iterable[str]) -> tuple[str, ...]:
        """Return the types of entities that tags name, in the order of the tags."""
        plain = (self.plain(tag) for tag in tags if tag and not _NO_TAG.fullmatch(tag))
        return tuple(dict.fromkeys(tag[2:] for tag in plain if tag != OUTSIDE))


IOB2 = TagScheme("prefix", "-", "BI")


def scheme_of(tags: Iterable[str]) -> TagScheme | None:
    """Return how tags mark entities; None if they mark none, such as parts of speech.

    Types alone (PER, LOC) are entities only beside O, and if they have two letters or more; B and I
    alone are entities of one type.

    >>> scheme_of(["O", "B_PER", "I_PER"]).name, scheme_of(["PER-S", "O"]).form
    ('IOB', 'suffix')
    >>> scheme_of(["NOUN", "VERB"]) is None
    True
    """
    seen = set(tags)
    outside = min(filter(_is_outside, seen), default=OUTSIDE)
    marks = {tag for tag in seen if not _is_outside(tag) and not _NO_TAG.fullmatch(tag)}
    forms: tuple[Literal["prefix", "suffix"], ...] = ("prefix", "suffix")
    for form in forms:
        pattern = _PREFIX if form == "prefix" else _SUFFIX
        matches = [parts for tag in marks if (parts := pattern.fullmatch(tag))]
        if matches and len(matches) == len(marks) and len({parts[2] for parts in matches}) == 1:
            letters = {parts["letter"] for parts in matches}
            upper = "".join(sorted({letter.upper() for letter in letters}))
            return TagScheme(form, matches[0][2], upper, all(map(str.islower, letters)), outside)
    if {"B", "I"} <= marks <= _PLAIN.keys():
        return TagScheme("letter", "", "".join(sorted(marks)), False, outside)
    are_types = (
        not _PREFIX.fullmatch(tag) and not _SUFFIX.fullmatch(tag) and sum(map(str.isalpha, tag)) > 1
        for tag in marks
    )
    return TagScheme("bare", "", "") if marks and OUTSIDE in seen and all(are_types) else None


def _is_outside(tag: str) -> bool:
    return tag in (OUTSIDE, "o", "0")


class FileTags(FileLabels):
    """What the tags of one file stand for: its entities, in the scheme of the known tags."""

    scheme: TagScheme | None = None
    """Of the file; None where its tags or the known ones are no entities."""
    target: TagScheme = IOB2
    """Of what is known or learned."""

    def __init__(
        self, known: Sequence[str] | None = None, label_map: Mapping[str, str] | None = None
    ) -> None:
        scheme = scheme_of(known or ())
        self.known_kinds = () if scheme is None else scheme.kinds(known or ())
        self.kinds: dict[str, str] = {}
        """What types of entities stand for; O for no entity."""
        self.num_left_out = 0
        """Words without a tag."""
        super().__init__(known, label_map)

    def _may_be(self, label: str) -> bool:
        return super()._may_be(label) or label in (OUTSIDE, *self.known_kinds)

    def needs_survey(self, example: Example) -> bool:
        """Return whether no sentence was read yet."""
        return self.counts is None

    def survey(self, counts: Counter[str]) -> None:
        """Decide on the scheme and on all types, or else on each tag."""
        scheme = scheme_of(name for name in counts if name not in _NO_MARKS)
        target = scheme.standard() if scheme and self.known is None else scheme_of(self.known or ())
        if scheme is None or target is None:
            super().survey(counts)
            return
        self.counts, self.scheme, self.target = counts, scheme, target
        kinds = scheme.kinds(counts)
        known_kinds = match_labels(kinds, self.known_kinds) if self.known else {k: k for k in kinds}
        known_kinds = {kind: self.label_map.get(to, to) for kind, to in known_kinds.items()}
        self.kinds = known_kinds | {
            kind: to for kind, to in self.label_map.items() if kind in kinds
        }

    def unknown(self) -> str | None:
        """Return a tag, or a type of entity, that stands for none of the known ones, if any."""
        if self.scheme is None:
            return super().unknown()
        kinds = self.scheme.kinds(self.counts or ())
        return next((kind for kind in kinds if kind not in self.kinds), None)

    def named(self, example: Example, bad_rows: BadRows, path: Path) -> Example | None:
        """Return a sentence with its entities in the known scheme; None if it cannot be used."""
        if self.scheme is None:
            named = super().named(example, bad_rows, path)
            self.num_left_out += len(example.labels) - len(named.labels) if named else 0
            return named
        assert isinstance(example, TaggedExample)
        pairs = zip(example.words, example.tags, strict=True)
        tagged = [(word, tag) for word, tag in pairs if tag not in _NO_MARKS]
        words, tags = [word for word, _ in tagged], [tag for _, tag in tagged]
        self.num_left_out += len(example.words) - len(words)
        if not words:
            bad_rows.add_unlabelled("")
            return None
        entities = self.scheme.entities(tags)
        unseen = next((entity.kind for entity in entities if entity.kind not in self.kinds), None)
        renamed = [
            entity._replace(kind=self.kinds.get(entity.kind, OUTSIDE)) for entity in entities
        ]
        renamed = [entity for entity in renamed if entity.kind not in ("", OUTSIDE)]
        new = self.target.tags(renamed, len(words), self.known)
        lacking = next((tag for tag in new if tag not in (self.known or new)), None)
        if unseen is None and lacking is None:
            return TaggedExample(words, new, example.row)
        wrong = describe_unseen(lacking or "", self.known or ()).replace("the label", "the tag")
        wrong = wrong if unseen is None else self.describe_unseen(unseen)
        bad_rows.add(f"{where(example)} of {str(path)!r} has {wrong}.")
        return None

    def describe_unseen(self, name: str) -> str:
        if self.scheme is None:
            return super().describe_unseen(name)
        kinds = self.known_kinds or (OUTSIDE,)
        return (
            f"entities of the type {name[:40]!r}, which is not one of {some_labels(kinds)}. Give "
            f"both the same name, or say what it is with {write_label_map({name[:40]: 'TYPE'})} "
            f"({OUTSIDE}: no entity)"
        )

    def notes(self) -> Iterator[str]:
        """Yield how the tags were read, a sentence each."""
        if self.num_left_out:
            yield f"{self.num_left_out:,} words without a tag were left out of their sentences."
        if self.scheme is None:
            yield from super().notes()
            return
        pair = [Entity("X", 0, 2)]
        ours, theirs = (", ".join(scheme.tags(pair, 2)) for scheme in (self.target, self.scheme))
        if self.scheme.form == "bare" == self.target.form:
            yield "Tags are types without B- and I-: neighbours of one type are one entity."
        elif self.scheme.name != self.target.name or (ours != theirs and theirs != "I-X, I-X"):
            whose = "a new head learns" if self.known is None else "the checkpoint has"
            yield (
                f"Tags of the file are {self.scheme.name} ({theirs}); {whose} {self.target.name} "
                f"({ours}): the entities were carried over."
            )
        others = {kind: to for kind, to in self.kinds.items() if to not in ("", kind)}
        if others:
            yield describe_match(others, is_chosen=bool(self.label_map))
