"""The report on all heads: measures and syntax, in one pass over the texts."""

from collections.abc import Sequence
from dataclasses import dataclass

from bertcore.analysis.heads.statistics import HeadStatistics, MeasureSurvey
from bertcore.analysis.heads.stream import Survey, run_surveys
from bertcore.analysis.heads.syntax import SyntaxScores, SyntaxSurvey
from bertcore.analysis.heads.texts import HeadTexts, bundled_sentences, bundled_trees, split_pairs
from bertcore.analysis.shared.collect import Progress
from bertcore.model.model import Model
from bertcore.training.evaluation.intervals import RESAMPLES


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
