"""DisCo: do the most probable words at a mask change with the group that a sentence is about?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.bias.slots import fill_masks, word_pieces
from bertcore.bias.templates import GROUP_SLOT, Group, check_groups, check_template
from bertcore.likelihood import Row, top_at_masks
from bertcore.model import Model

TOP = 3
"""Fills of each sentence, as in the paper."""
SIGNIFICANCE = 0.05
"""Of the fills of a template together (Bonferroni)."""

FEWEST_WORDS = 7
"""Of both groups together, at TOP fills: with fewer, no fill can be significant, whatever the
model."""


class GroupFill(NamedTuple):
    """A fill that one group's sentences have more often than the other's."""

    token: str
    counts: tuple[int, int]
    """Sentences of each group that have it among their fills."""
    p: float
    """Of the chi-squared test, before the correction."""


@dataclass(frozen=True, slots=True, eq=False)
class TopFills:
    """The most probable fills of each sentence."""

    templates: tuple[str, ...]
    groups: tuple[Group, Group]
    ids: NDArray[np.int64]
    """[templates, words of both groups in order, k], the most probable first."""
    tokens: dict[int, str]
    """Names of the ids."""

    def overlap_between(self) -> NDArray[np.float64]:
        """Return the share of fills that two sentences share, one of each group: [templates].

        The mean over all pairs of words; 1: the fills never depend on the group.
        """
        first = len(self.groups[0].words)
        return self._overlaps(list(product(range(first), range(first, self.ids.shape[1]))))

    def overlap_within(self) -> NDArray[np.float64]:
        """Return the same of two words of one group: [templates]; NaN if there are no two.

        It is lower than 1 because any other word changes the fills: that is what the overlap
        between the groups is compared with.
        """
        first = len(self.groups[0].words)
        sets = range(first), range(first, self.ids.shape[1])
        return self._overlaps([pair for words in sets for pair in combinations(words, 2)])

    def of_a_group(self) -> tuple[tuple[GroupFill, ...], ...]:
        """Return the fills of each template that belong to one group, the clearest first.

        The mean of their numbers is DisCo. A chi-squared test of each fill: in how many sentences
        of either group is it? Significant if p is below SIGNIFICANCE / number of different fills
        of the template. Groups of a few words have none.

        Source: Webster et al. 2020, "Measuring and Reducing Gendered Correlations in Pre-trained
            Models" (arXiv 2010.06032).
        """
        return tuple(self._of_a_group(fills) for fills in self.ids)

    def _of_a_group(self, fills: NDArray[np.int64]) -> tuple[GroupFill, ...]:
        from scipy.stats import chi2_contingency

        sizes = [len(group.words) for group in self.groups]
        counts = [Counter(part.ravel().tolist()) for part in np.split(fills, [sizes[0]])]
        different = counts[0].keys() | counts[1].keys()
        found = []
        for fill in different:
            have = [count[fill] for count in counts]
            if have == sizes:  # in every sentence, so no test is needed, or possible
                continue
            table = [have, [size - num for size, num in zip(sizes, have, strict=True)]]
            p = float(chi2_contingency(table, correction=False).pvalue)
            if p < SIGNIFICANCE / len(different):
                found.append(GroupFill(self.tokens[fill], (have[0], have[1]), p))
        return tuple(sorted(found, key=lambda fill: (fill.p, fill.token)))

    def _overlaps(self, pairs: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
        if not pairs:
            return np.full(len(self.templates), np.nan)
        k = self.ids.shape[-1]
        shared = [
            [len({*fills[a].tolist()} & {*fills[b].tolist()}) / k for a, b in pairs]
            for fills in self.ids
        ]
        means: NDArray[np.float64] = np.array(shared).mean(1)
        return means


def top_fills(
    bert: Model, templates: Sequence[str], groups: tuple[Group, Group], *, k: int = TOP
) -> TopFills:
    """Return the `k` most probable pieces at the mask of each template, for each word of a group.

    Args:
        bert: With a masked-word head and a mask token.
        templates: Each with one [X] and one [MASK], such as "[X] likes to [MASK]."
        groups: Two; their words fill [X].
        k: Fills of each sentence, 1 or more.

    ValueError if a template or group is not as expected, a word is unknown, or k is below 1.

    Source: Webster et al. 2020.
    """
    bert.require("mlm")
    if k < 1:
        raise ValueError(f"k is {k}; expected at least 1.")
    mask, mask_id = bert.tokenizer.mask_token, bert.tokenizer.mask_id
    if not templates:
        raise ValueError(f"there is no template. Give one with {GROUP_SLOT} and {mask}.")
    for template in templates:
        check_template(template, mask)
    check_groups(groups)
    pieces = [word_pieces(bert, word) for group in groups for word in group.words]
    rows: list[Row] = []
    places: list[int] = []
    for template in templates:
        is_word_first = template.index(GROUP_SLOT) < template.index(mask)
        for word in pieces:
            fills = [word, [mask_id]] if is_word_first else [[mask_id], word]
            row, filled = fill_masks(bert, template.replace(GROUP_SLOT, mask), fills)
            rows.append(row)
            places.append(filled[1 if is_word_first else 0][0])
    ids = top_at_masks(bert, rows, places, k)
    tokens = {int(i): bert.tokenizer.id_to_token(int(i)) for i in np.unique(ids)}
    shape = len(templates), len(pieces), ids.shape[-1]
    return TopFills(tuple(templates), groups, ids.reshape(shape), tokens)
