"""Names of the head measures and the dependency relations."""

from typing import NamedTuple

from bertcore.analysis.heads.measures import MEASURES
from bertcore.analysis.heads.report import HeadReport
from bertcore.training.evaluation.intervals import Interval

HABITS = {
    "to_previous": "the token before",
    "to_next": "the token after",
    "to_self": "the token itself",
    "to_first": "[CLS]",
    "to_separator": "[SEP]",
    "to_punctuation": "punctuation",
    "to_same_word": "the same word elsewhere",
    "a_to_b": "from text A to text B",
    "b_to_a": "from text B to text A",
    "evenness": "all tokens alike",
}
"""Measures between 0 and 1, a head's habits; each name continues "attends to"."""

OTHER_MEASURES = {
    "entropy": "entropy, in nats",
    "entropy_first": "entropy of the row of [CLS], in nats",
    "distance": "mean distance, in tokens",
}

RELATIONS = {
    "acl": "clause of a noun",
    "acl:relcl": "relative clause",
    "advcl": "adverbial clause",
    "advmod": "adverb",
    "all": "any relation but punct",
    "amod": "adjective",
    "appos": "apposition",
    "aux": "auxiliary",
    "aux:pass": "auxiliary of a passive",
    "case": "preposition",
    "cc": "and, or",
    "ccomp": "clause as object",
    "compound": "part of a compound",
    "compound:prt": "particle of a verb",
    "conj": "joined by and, or",
    "cop": "copula (is)",
    "csubj": "clause as subject",
    "det": "article, determiner",
    "expl": "expletive (there, it)",
    "fixed": "fixed expression",
    "flat": "part of a name",
    "iobj": "indirect object",
    "mark": "to, that, if before a clause",
    "nmod": "noun of a noun (of the class)",
    "nmod:poss": "possessor",
    "nsubj": "subject",
    "nsubj:pass": "subject of a passive",
    "nummod": "number",
    "obj": "direct object",
    "obl": "noun of a verb (in the garden)",
    "obl:agent": "by whom",
    "parataxis": "clause beside a clause",
    "punct": "punctuation",
    "xcomp": "clause without a subject",
}
"""The relations of Universal Dependencies in plain words; others are shown by their names."""

DIRECTION_NAMES = {"to_head": "dependent → head word", "to_dependent": "head word → dependent"}
"""From which word to which; "head word", since attention has heads as well."""

QUESTIONS = {
    "to_previous": "the word before",
    "to_next": "the word after",
    "obj>to_dependent": "a verb's direct object",
    "nsubj>to_dependent": "a verb's subject",
}
"""What one searches for first, by the key of a `NamedMeasure`; each continues "attends to"."""


class NamedMeasure(NamedTuple):
    """What is measured of each head: a head measure, or finding a relation."""

    name: str
    """Of MEASURES, or of a relation."""
    direction: str = ""
    """One of DIRECTIONS if it is a relation, "" for a measure."""

    @property
    def key(self) -> str:
        """Its name in an address."""
        return f"{self.name}>{self.direction}" if self.direction else self.name

    @property
    def title(self) -> str:
        """Its title in the app."""
        if not self.direction:
            return HABITS.get(self.name) or OTHER_MEASURES[self.name]
        return f"{relation_title(self.name)}; {DIRECTION_NAMES[self.direction]}"

    @property
    def is_fraction(self) -> bool:
        """Whether it is between 0 and 1 and is shown in percent."""
        return bool(self.direction) or self.name in HABITS

    def values(self, report: HeadReport) -> Interval:
        """Return its mean and interval for every head, each [L, H]."""
        if self.direction:
            return report.scores.accuracy(self.name, self.direction)
        return report.statistics.of(self.name)

    def baseline(self, report: HeadReport) -> float:
        """Return what a head without this habit has: a uniform one, or a fixed offset's hits."""
        if self.direction:
            return report.scores.baseline(self.name, self.direction)[1]
        return float(report.statistics.uniform[MEASURES.index(self.name)])

    def count(self, report: HeadReport) -> int:
        """Return the number of sentences, or of cases, behind it."""
        if self.direction:
            return report.scores.cases(self.name, self.direction)
        return int(report.statistics.num_sentences[MEASURES.index(self.name)])


def relation_title(relation: str) -> str:
    """Return the name of a relation with its meaning, if known."""
    meaning = RELATIONS.get(relation)
    return f"{relation}: {meaning}" if meaning else relation


FEW_CASES = 5  # relations with fewer cases are left out of a list


def listed(report: HeadReport, direction: str = "") -> list[NamedMeasure]:
    """Return the habits that were measured, or the relations with enough cases, commonest first."""
    if not direction:
        return [measured for measured in map(NamedMeasure, HABITS) if measured.count(report)]
    relations = (NamedMeasure(name, direction) for name in report.scores.relations)
    return [measured for measured in relations if measured.count(report) >= FEW_CASES]


def all_measured(report: HeadReport) -> dict[str, NamedMeasure]:
    """Return all that was measured and has a value, by key: habits, other measures, relations."""
    measures = [NamedMeasure(name) for name in (*HABITS, *OTHER_MEASURES)]
    assert {measured.name for measured in measures} == set(MEASURES)
    relations = [
        NamedMeasure(name, direction)
        for name in report.scores.relations
        for direction in DIRECTION_NAMES
    ]
    return {m.key: m for m in (*measures, *relations) if m.count(report)}
