"""How well a model does what it was trained for: beside each measure of bias, and its price."""

from dataclasses import dataclass

from bertcore.model.likelihood import HiddenToken, Row, hits_at_masks
from bertcore.model.model import Model
from bertcore.training.evaluation.intervals import wilson_interval
from bertcore.training.grammar import accuracies, bundled_pairs, score_pairs


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its 95% interval."""

    mean: float
    low: float
    high: float


def share_of(num_right: float, number: int) -> Estimate:
    """Return a share of cases and its 95% interval (Wilson).

    A bootstrap would give a share of 0 or 1 an interval of zero width, however few cases there are.
    """
    interval = wilson_interval(num_right, number)
    return Estimate(float(interval.mean), float(interval.low), float(interval.high))


def masked_words(bert: Model) -> Estimate:
    """Return how often the best word at a hidden token is right, on our good sentences.

    ValueError if there is no masked-word head.
    """
    bert.require("mlm")
    asked = []
    for pair in bundled_pairs().pairs:
        encoding = bert.tokenize(pair.good)
        for place, is_added in enumerate(encoding.special_tokens_mask):
            if is_added:
                continue
            ids = list(encoding.input_ids)
            ids[place] = bert.tokenizer.mask_id
            row = Row(ids, encoding.segment_ids)
            asked.append(HiddenToken(row, place, encoding.input_ids[place]))
    hits = hits_at_masks(bert, asked)
    return share_of(float(hits.sum()), len(hits))


def grammar_exam(bert: Model) -> Estimate:
    """Return how often the good sentence of our minimal pairs is the more probable one."""
    scores = [score for part in score_pairs(bert, bundled_pairs().pairs) for score in part]
    everything = accuracies(scores, ())[0]
    return Estimate(everything.accuracy, everything.low, everything.high)
