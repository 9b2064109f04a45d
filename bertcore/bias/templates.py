"""Templates: is a filler more probable with one group than with another?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.bias.slots import MASK, Slot, fill_masks, slot_log_probabilities, word_pieces
from bertcore.evaluation.intervals import bootstrap_means
from bertcore.model import Model

GROUP_SLOT = "[X]"
MOST_CELLS = 20_000
"""Words times fillers times templates."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group of people, and words for it."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TemplateScores:
    """How much each filler favours each group's words, by template."""

    templates: tuple[str, ...]
    groups: tuple[Group, ...]
    fillers: tuple[str, ...]
    log_p: NDArray[np.float64]
    """Log-probability of each word at [X] with the filler in place, nats,
    [templates, fillers, words of all groups in order]."""
    prior: NDArray[np.float64]
    """The same with the filler hidden by as many masks as it has pieces, nats."""
    notes: tuple[str, ...] = ()
    """What is odd about the words, one sentence each."""

    @property
    def scores(self) -> NDArray[np.float64]:
        """log p - log prior, nats: above 0, the filler makes the word more probable."""
        return self.log_p - self.prior

    def members(self, group: int) -> slice:
        """Return the indices of a group's words on the last axis."""
        start = sum(len(each.words) for each in self.groups[:group])
        return slice(start, start + len(self.groups[group].words))

    def differences(self, first: int = 0, second: int = 1) -> NDArray[np.float64]:
        """Return mean score of a group's words minus that of another's, nats [templates, fillers].

        Above 0: the filler leans to the first group.
        """
        scores = self.scores
        means = [scores[..., self.members(group)].mean(-1) for group in (first, second)]
        difference: NDArray[np.float64] = means[0] - means[1]
        return difference


@dataclass(frozen=True, slots=True)
class Lean:
    """The mean difference between two groups, nats, and its 95% intervals."""

    mean: float
    over_fillers: tuple[float, float]
    """Ends by bootstrap over fillers; NaN of a single one."""
    over_templates: tuple[float, float]
    """Ends by bootstrap over templates; NaN of a single one."""
    over_words: tuple[float, float]
    """Ends by bootstrap over the words of both groups; NaN where a group has a single one."""
    turns: bool
    """Whether the sign differs between templates: the result depends on the wording."""


def check_template(template: str, mask: str = MASK) -> None:
    """Reject a template without exactly one [X] and one mask.

    ValueError if it does not have them.
    """
    for slot in (GROUP_SLOT, mask):
        number = template.count(slot)
        if number != 1:
            raise ValueError(
                f"the template {template!r} has {number} slots {slot}; expected one {GROUP_SLOT} "
                f"for a word of a group and one {mask} for a filler."
            )


def score_templates(
    bert: Model,
    templates: Sequence[str],
    groups: Sequence[Group],
    fillers: Sequence[str],
) -> TemplateScores:
    """Return the log-probability bias scores of every template, filler and word.

    A word or filler of several pieces is scored as a whole, by the chain rule over its pieces.

    Args:
        bert: With a masked-word head and a mask token.
        templates: Each with one [X] and one [MASK], such as "[X] worked as a [MASK]."
        groups: At least two; their words fill [X].
        fillers: Words at [MASK], at least one.

    ValueError if a template or set is not as expected, a word is unknown, or there are too many
    cells.

    Source: Kurita et al. 2019, section 2.
    """
    bert.require("mlm")
    templates, fillers = tuple(templates), tuple(fillers)
    mask = bert.tokenizer.mask_token
    _check(templates, groups, fillers, mask)
    words = [word for group in groups for word in group.words]
    pieces = {text: word_pieces(bert, text) for text in {*words, *fillers}}
    shape = len(templates), len(fillers), len(words)
    if np.prod(shape) > MOST_CELLS:
        raise ValueError(
            f"{shape[0]} templates with {shape[1]} fillers and {shape[2]} words make "
            f"{np.prod(shape):,} scores; at most {MOST_CELLS:,} are computed. Use fewer."
        )
    mask_id = bert.tokenizer.mask_id
    slots: list[Slot] = []
    cells: dict[tuple[object, ...], int] = {}
    wanted = np.empty((2, *shape), dtype=np.int64)
    for t, template in enumerate(templates):
        is_word_first = template.index(GROUP_SLOT) < template.index(mask)
        text = template.replace(GROUP_SLOT, mask)
        for f, filler in enumerate(fillers):
            for w, word in enumerate(words):
                hidden = [mask_id] * len(pieces[filler])
                for kind, put in enumerate((pieces[filler], hidden)):
                    # The prior depends only on the filler's number of pieces.
                    key = (t, w, tuple(put))
                    if key not in cells:
                        fills = [pieces[word], put] if is_word_first else [put, pieces[word]]
                        row, places = fill_masks(bert, text, fills)
                        at = places[0 if is_word_first else 1]
                        cells[key] = len(slots)
                        slots.append(Slot(row, at, pieces[word]))
                    wanted[kind, t, f, w] = cells[key]
    log_p = slot_log_probabilities(bert, slots)[wanted]
    return TemplateScores(
        templates, tuple(groups), fillers, log_p[0], log_p[1], _notes(pieces, groups)
    )


def _check(
    templates: Sequence[str], groups: Sequence[Group], fillers: Sequence[str], mask: str
) -> None:
    if not templates:
        raise ValueError(f"there is no template. Give one with {GROUP_SLOT} and {mask}.")
    for template in templates:
        check_template(template, mask)
    check_groups(groups)
    if not fillers:
        raise ValueError("there is no filler. Give at least one word for the mask.")
    _check_once("fillers", fillers)


def check_groups(groups: Sequence[Group]) -> None:
    """Reject fewer than two groups, one without a word, and a word that is in them twice.

    ValueError if they are not as expected.
    """
    if len(groups) < 2:
        raise ValueError(f"there are {len(groups)} groups; expected at least two to compare.")
    empty = [group.name for group in groups if not group.words]
    if empty:
        raise ValueError(f"the group {empty[0]!r} has no word. Give it at least one.")
    for group in groups:
        _check_once(f"group {group.name!r}", group.words)
    seen: dict[str, str] = {}
    for group in groups:
        for word in group.words:
            other = seen.setdefault(word.lower(), group.name)
            if other != group.name:
                raise ValueError(
                    f"{word!r} is in the groups {other!r} and {group.name!r}; a shared word "
                    "carries no information. Leave it out of one."
                )


def _check_once(name: str, words: Sequence[str]) -> None:
    twice = [word for word in words if words.count(word) > 1]
    if twice:
        raise ValueError(f"{twice[0]!r} is in the {name} twice. Leave one out.")


def _notes(pieces: dict[str, list[int]], groups: Sequence[Group]) -> tuple[str, ...]:
    notes = []
    several = sorted(text for text, ids in pieces.items() if len(ids) > 1)
    if several:
        listed = ", ".join(several[:5]) + (" ..." if len(several) > 5 else "")
        notes.append(
            f"1 word has several pieces and counts as a whole: {listed}."
            if len(several) == 1
            else f"{len(several)} words have several pieces and count as wholes: {listed}."
        )
    sizes = [len(group.words) for group in groups]
    if len(set(sizes)) > 1:
        listed = ", ".join(f"{group.name} {len(group.words)}" for group in groups)
        notes.append(
            f"The groups have different numbers of words ({listed}); their means are compared."
        )
    return tuple(notes)


def lean(scores: TemplateScores, first: int = 0, second: int = 1) -> Lean:
    """Return the mean difference between two groups over all templates, fillers and words."""
    table = scores.differences(first, second)  # [templates, fillers]
    by_template = table.mean(1)
    fillers, templates = bootstrap_means(table.mean(0)), bootstrap_means(by_template)
    return Lean(
        mean=float(table.mean()),
        over_fillers=(float(fillers.low), float(fillers.high)),
        over_templates=(float(templates.low), float(templates.high)),
        over_words=_over_words(scores, first, second),
        turns=bool(by_template.min() < 0 < by_template.max()),
    )


def _over_words(scores: TemplateScores, first: int, second: int) -> tuple[float, float]:
    """Return the ends of the bootstrap interval over the words of both groups."""
    means = scores.scores.mean((0, 1))
    sets = [means[scores.members(group)] for group in (first, second)]
    if min(map(len, sets)) < 2:
        return float("nan"), float("nan")
    generator = np.random.default_rng(0)
    draws = [words[generator.integers(len(words), size=(1000, len(words)))] for words in sets]
    low, high = np.percentile(draws[0].mean(1) - draws[1].mean(1), (2.5, 97.5))
    return float(low), float(high)
