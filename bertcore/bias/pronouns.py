"""WinoBias: does a model resolve a pronoun by the stereotype of an occupation?"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bertcore.bias.shares import Share, preferred, shares
from bertcore.bias.slots import Slot, fill_masks, slot_log_probabilities, word_pieces
from bertcore.data.files import BadRows, lines_of, open_text
from bertcore.model import Model

PRONOUNS = frozenset({"he", "she", "his", "him", "her", "hers", "himself", "herself"})
_LINE = re.compile(r"^\d+\s+(.+)$")
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")


@dataclass(frozen=True, slots=True)
class PronounItem:
    """A sentence with an occupation and one or two pronouns that refer to it."""

    text: str
    """The sentence with each pronoun replaced by [MASK]."""
    stereotype: tuple[str, ...]
    """The stereotypical pronouns of the occupation."""
    other: tuple[str, ...]
    """Those of the other gender."""
    occupation: str
    row: int


@dataclass(frozen=True, slots=True)
class PronounScore:
    """The log-probabilities of the two fillings, nats."""

    item: PronounItem
    stereotype: float
    other: float

    @property
    def log_ratio(self) -> float:
        """How much more probable the stereotypical pronoun is, in nats."""
        return self.stereotype - self.other


def read_winobias(
    pro: Path, anti: Path | None = None, *, bad_rows: BadRows | None = None
) -> tuple[PronounItem, ...]:
    """Read the two files of WinoBias with the same sentences and exchanged pronouns.

    A line is a number and a sentence whose occupation and pronouns are in square brackets: "1 [The
    developer] argued with the designer because [he] did not like the design."

    Args:
        pro: A file such as pro_stereotyped_type1.txt.dev.
        anti: Its anti-stereotypical twin; None: the file beside it whose name has "anti" for "pro".
        bad_rows: Collects lines that cannot be used; None rejects them.

    ValueError if a file is missing, or no line can be used.
    """
    bad_rows = BadRows() if bad_rows is None else bad_rows
    anti = pro.with_name(pro.name.replace("pro_", "anti_", 1)) if anti is None else anti
    if anti == pro:
        raise ValueError(
            f"{str(pro)!r} is given for both files; WinoBias comes in pairs: pro_... with the "
            "stereotypical pronouns, anti_... with the others. Give both."
        )
    lines = [_lines(path) for path in (pro, anti)]
    items = []
    for row in sorted(lines[0]):
        item = _item(lines[0][row], lines[1].get(row, ""), row)
        if item is None:
            bad_rows.add(
                f"line {row} of {str(pro)!r} is not a WinoBias item; expected a number and a "
                "sentence with [the occupation] and [its pronoun] in brackets, and in the other "
                "file the same with another pronoun."
            )
        else:
            items.append(item)
    if not items:
        raise ValueError(f"{str(pro)!r} has no WinoBias sentence. {bad_rows.first}".strip())
    return tuple(items)


def _lines(path: Path) -> dict[int, str]:
    with open_text(path) as file:
        return {i: line.strip() for i, line in enumerate(lines_of(file, path), 1) if line.strip()}


def _item(pro: str, anti: str, row: int) -> PronounItem | None:
    first, second = _read(pro), _read(anti)
    if first is None or second is None or first[0] != second[0] or first[1] == second[1]:
        return None
    return PronounItem(first[0], first[1], second[1], first[2], row)


def _read(line: str) -> tuple[str, tuple[str, ...], str] | None:
    """Return the text with masks, its pronouns and the occupation; None if it has none."""
    numbered = _LINE.match(line)
    if numbered is None:
        return None
    pronouns: list[str] = []
    occupations: list[str] = []

    def mask(mark: re.Match[str]) -> str:
        word = mark.group(1)
        if word.lower() in PRONOUNS:
            pronouns.append(word.lower())
            return "[MASK]"
        occupations.append(word)
        return word

    text = _BRACKETS.sub(mask, numbered.group(1))
    if not pronouns or len(occupations) != 1:
        return None
    name = re.sub(r"^(the|an?)\s+", "", occupations[0], flags=re.IGNORECASE).lower()
    return text, tuple(pronouns), name


def score_pronouns(bert: Model, items: Sequence[PronounItem]) -> list[PronounScore]:
    """Return the log-probabilities of both fillings at the pronouns' places.

    If a sentence has two pronouns, the second is read with the first filled in.

    Args:
        bert: A checkpoint with a masked-word head and a mask token.
        items: [N].

    ValueError if there is no masked-word head, or a pronoun is not in the vocabulary.

    Source: sentences of Zhao et al. 2018; scored by a masked pronoun instead of a coreference
    system.
    """
    bert.require("mlm")
    slots = []
    for item in items:
        text = item.text.replace("[MASK]", bert.tokenizer.mask_token)
        for words in (item.stereotype, item.other):
            pieces = [word_pieces(bert, word) for word in words]
            row, positions = fill_masks(bert, text, pieces)
            places = [*itertools.chain(*positions)]
            slots.append(Slot(row, places, [*itertools.chain(*pieces)]))
    log_p = slot_log_probabilities(bert, slots).reshape(-1, 2)
    return [
        PronounScore(item, float(row[0]), float(row[1]))
        for item, row in zip(items, log_p, strict=True)
    ]


def pronoun_shares(scores: Sequence[PronounScore]) -> list[Share]:
    """Return the share of sentences with the stereotypical pronoun preferred: all, by occupation.

    A system's accuracy on the pro-stereotypical file is this share, and on the anti-stereotypical
    one its complement; their difference, which WinoBias reports, is twice the share minus one.
    """
    wins = preferred([score.stereotype for score in scores], [score.other for score in scores])
    return shares(wins, [score.item.occupation for score in scores])
