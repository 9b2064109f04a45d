"""The report on all heads: measures and syntax, in one pass over the texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.heads.measures import HABITS, MEASURES
from bertcore.analysis.heads.statistics import HeadStatistics, MeasureSurvey
from bertcore.analysis.heads.stream import Survey, run_surveys
from bertcore.analysis.heads.syntax import DIRECTIONS, SyntaxScores, SyntaxSurvey
from bertcore.analysis.heads.texts import HeadTexts, bundled_sentences, bundled_trees, split_pairs
from bertcore.analysis.shared.collect import Progress
from bertcore.model.model import Model
from bertcore.training.evaluation.intervals import RESAMPLES, Interval

STANDS_OUT = 0.15
"""The gain over uniform attention, as a fraction of the largest possible one, from which a pattern
counts as a habit: (mean - uniform) / (1 - uniform). Ours."""
BROAD = 0.8
"""Mean evenness from which a head is broad."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What is measured of every head: a measure, or how well it finds a relation."""

    name: str
    """Of MEASURES, or of a relation."""
    direction: str
    """One of DIRECTIONS for a relation, "" for a measure."""
    mean: NDArray[np.float64]
    """[L, H], as the ends of its 95% interval."""
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    baseline: float
    """What a head without this habit has: a uniform one, or the best fixed offset."""
    cases: int
    """Number of sentences, or of cases of the relation, behind it."""
    offset: int = 0
    """The best fixed offset of a relation, in words."""

    @property
    def key(self) -> str:
        """Its name, unique among all that is measured."""
        return f"{self.name}>{self.direction}" if self.direction else self.name

    @property
    def is_fraction(self) -> bool:
        """Whether it is between 0 and 1."""
        return bool(self.direction) or self.name in HABITS

    @property
    def best(self) -> tuple[int, int] | None:
        """Layer and head with the highest mean; see `Interval.best`."""
        return Interval(self.mean, self.low, self.high).best

    def at(self, head: tuple[int, int]) -> tuple[float, float, float]:
        """Return a head's mean and the ends of its interval."""
        return float(self.mean[head]), float(self.low[head]), float(self.high[head])

    def stands_out(self, head: tuple[int, int]) -> bool:
        """Return whether a head has the habit, or does better than any fixed offset."""
        mean, low, _ = self.at(head)
        if self.direction:
            return low > self.baseline
        if self.name == "evenness":
            return mean >= BROAD
        return mean - self.baseline >= STANDS_OUT * (1 - self.baseline)


@dataclass(frozen=True, eq=False)
class HeadReport:
    """Measures and syntax of one checkpoint's heads on some texts and trees."""

    statistics: HeadStatistics
    scores: SyntaxScores
    num_cut: int
    """Number of sentences truncated at the checkpoint's limit."""

    @cached_property
    def measured(self) -> tuple[Measured, ...]:
        """All that has a case: habits, other measures, relations with the commonest first."""
        of, scores = self.statistics, self.scores
        measures = [
            Measured(name, "", *of.of(name), float(of.uniform[i]), int(of.num_sentences[i]))
            for name in (*HABITS, *(name for name in MEASURES if name not in HABITS))
            for i in [MEASURES.index(name)]
        ]
        relations = [
            Measured(
                name, way, *scores.accuracy(name, way), baseline, scores.cases(name, way), offset
            )
            for name in scores.relations
            for way in DIRECTIONS
            for offset, baseline in [scores.baseline(name, way)]
        ]
        return tuple(measured for measured in (*measures, *relations) if measured.cases)


def report_heads(
    bert: Model,
    texts: HeadTexts | Sequence[str] = (),
    trees: HeadTexts | None = None,
    *,
    num_resamples: int = RESAMPLES,
    progress: Progress | None = None,
) -> HeadReport:
    """Measure every head, by default on the shipped sentences, and relations on the shipped trees.

    ValueError if there is no sentence or no tree, or too few resamples.
    """
    if not isinstance(texts, HeadTexts):
        texts = HeadTexts(split_pairs(texts), ()) if texts else bundled_sentences()
    trees = bundled_trees() if trees is None else trees
    if not trees.trees:
        raise ValueError("there is no tree. Give sentences in CoNLL-U, or use the shipped ones.")
    measures = MeasureSurvey(len(texts.sentences), bert.config)
    syntax = SyntaxSurvey(trees.trees, bert.config)
    passes: list[tuple[HeadTexts, list[Survey]]] = [(texts, [measures])]
    if trees is texts:
        passes[0][1].append(syntax)
    else:
        passes.append((trees, [syntax]))
    total = sum(len(part.sentences) for part, _ in passes)
    done = num_cut = 0
    for part, surveys in passes:

        def report(within: float, stage: str, done: int = done, part: HeadTexts = part) -> None:
            if progress:
                progress(0.9 * (done + within * len(part.sentences)) / total, stage)

        num_cut += run_surveys(bert, part.sentences, surveys, progress=report)
        done += len(part.sentences)
    if progress:
        progress(0.95, "Resampling the sentences")
    statistics = measures.result(num_resamples=num_resamples)
    return HeadReport(statistics, syntax.result(), num_cut)
