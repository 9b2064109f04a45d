"""Names of the head measures and the dependency relations."""

from bertcore.analysis.heads.report import HeadReport, Measured

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
"""What one searches for first, by the key of a `Measured`; each continues "attends to"."""


def title(measured: Measured) -> str:
    """Return what a measure or relation is called."""
    if not measured.direction:
        return HABITS.get(measured.name) or OTHER_MEASURES[measured.name]
    return f"{relation_title(measured.name)}; {DIRECTION_NAMES[measured.direction]}"


def relation_title(relation: str) -> str:
    """Return the name of a relation with its meaning, if known."""
    meaning = RELATIONS.get(relation)
    return f"{relation}: {meaning}" if meaning else relation


FEW_CASES = 5  # relations with fewer cases are left out of a list


def listed(report: HeadReport, direction: str = "") -> list[Measured]:
    """Return the habits that were measured, or the relations with enough cases, commonest first."""
    alike = [measured for measured in report.measured if measured.direction == direction]
    if direction:
        return [measured for measured in alike if measured.cases >= FEW_CASES]
    return [measured for measured in alike if measured.name in HABITS]
