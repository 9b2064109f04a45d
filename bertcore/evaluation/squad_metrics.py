"""Exact match and F1 as in the official scripts of SQuAD 1.1 and 2.0."""

import re
import string
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = frozenset(string.punctuation)


def normalize(text: str) -> str:
    """Return an answer in lower case without punctuation, articles and extra white space.

    >>> normalize("The  Denver Broncos!")
    'denver broncos'
    """
    bare = "".join(c for c in text.lower() if c not in _PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match(answer: str, gold: str) -> float:
    """Return 1.0 if two answers are the same once normalised, else 0.0."""
    return float(normalize(answer) == normalize(gold))


def overlap_f1(answer: str, gold: str) -> float:
    """Return the F1 of the words shared by two answers; if one is empty, 1.0 if both are.

    >>> round(overlap_f1("in the Denver stadium", "Denver Broncos"), 3)
    0.4
    """
    ours, theirs = normalize(answer).split(), normalize(gold).split()
    if not ours or not theirs:
        return float(ours == theirs)
    shared = sum((Counter(ours) & Counter(theirs)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(ours), shared / len(theirs)
    return 2 * precision * recall / (precision + recall)


def score_answer(answer: str, golds: Sequence[str]) -> tuple[float, float]:
    """Return exact match and F1 of an answer: the best over all accepted answers.

    Args:
        answer: "" stands for no answer.
        golds: The accepted answers; if empty, there is no answer, and "" is right.
    """
    right = [gold for gold in golds if normalize(gold)] or [""]
    return max(exact_match(answer, g) for g in right), max(overlap_f1(answer, g) for g in right)


def best_threshold(
    null_differences: Sequence[float], scores: Sequence[float], is_impossible: Sequence[bool]
) -> tuple[float, float]:
    """Return the highest mean score and its threshold.

    A question whose difference is above the threshold is given no answer.

    Args:
        null_differences: Null difference of each question, from `Answer.null_difference`.
        scores: Score of each question if its answer is given: exact match or F1, by `score_answer`;
            if no answer is right, 1.0 if the answer is "" as well, else 0.0.
        is_impossible: Whether each question has no right answer.

    Source: find_best_thresh of the official script of SQuAD 2.0. Differs if no answer is right: an
    answer of only articles and punctuation counts as "", as it does in the scores.
    """
    current = best = float(sum(is_impossible))
    threshold = min(null_differences, default=0.0) - 1.0  # below all: no question is answered
    order = sorted(range(len(scores)), key=lambda i: null_differences[i])
    for place, i in enumerate(order):
        # Answering one more question gains its score, or loses the point for giving no answer.
        current += scores[i] - 1.0 if is_impossible[i] else scores[i]
        following = order[place + 1] if place + 1 < len(order) else None
        tied = following is not None and null_differences[following] == null_differences[i]
        if current > best and not tied:
            best, threshold = current, null_differences[i]
    return best / max(1, len(scores)), threshold
