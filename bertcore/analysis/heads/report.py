"""The report on all heads: measures and syntax, in one pass over the texts."""

from collections.abc import Sequence
from dataclasses import dataclass

from bertcore.analysis.heads.statistics import HeadStatistics, MeasureSurvey
from bertcore.analysis.heads.stream import Survey, run_surveys
from bertcore.analysis.heads.syntax import SyntaxScores, SyntaxSurvey
from bertcore.analysis.heads.texts import (
    HeadTexts,
    bundled_sentences,
    bundled_trees,
    split_pairs,
)
from bertcore.analysis.shared.collect import Progress
from bertcore.evaluation.intervals import RESAMPLES
from bertcore.model import Model


@dataclass(frozen=True, slots=True, eq=False)
class HeadReport:
    """Measures and syntax of one checkpoint's heads on some texts and trees."""

    statistics: HeadStatistics
    scores: SyntaxScores
    num_cut: int
    """Number of sentences truncated at the checkpoint's limit."""


def report_heads(
    bert: Model,
    texts: HeadTexts | Sequence[str] = (),
    trees: HeadTexts | None = None,
    *,
    num_resamples: int = RESAMPLES,
    seed: int = 0,
    progress: Progress | None = None,
) -> HeadReport:
    """Measure every head.

    Args:
        texts: Sentences for the measures; the shipped ones if there are none.
        trees: Sentences with their trees, for the relations; may be `texts`. The shipped ones if
            not given.
        num_resamples, seed: For the intervals.
        progress: Called with the fraction done; an exception in it ends the work.

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
    begin, num_cut = 0.0, 0
    for part, surveys in passes:
        fraction = 0.9 * len(part.sentences) / total
        part_progress = _part_of(progress, begin, fraction) if progress else None
        num_cut += run_surveys(bert, part.sentences, surveys, progress=part_progress)
        begin += fraction
    if progress:
        progress(0.95, "Resampling the sentences")
    statistics = measures.result(num_resamples=num_resamples, seed=seed)
    return HeadReport(statistics, syntax.result(), num_cut)


def _part_of(progress: Progress, begin: float, fraction: float) -> Progress:
    """Return a callback that maps the progress of a part to overall progress."""

    def report_part(within: float, stage: str) -> None:
        progress(begin + within * fraction, stage)

    return report_part
