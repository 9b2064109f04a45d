"""The objectives that can be trained, one class each, by name."""

from bertcore.pretraining.objectives.causal import NextTokens
from bertcore.pretraining.objectives.denoising import BartNoise, MassFragment, T5Spans
from bertcore.pretraining.objectives.masked_words import (
    LimitedAttention,
    MaskedWords,
    MaskedWordsAndOrder,
    MaskedWordsAndPairs,
    WholeWords,
)
from bertcore.pretraining.objectives.objective import Objective
from bertcore.pretraining.objectives.permutation import PermutedWords
from bertcore.pretraining.objectives.replaced_tokens import ReplacedTokens
from bertcore.pretraining.objectives.spans import Spans

__all__ = ["OBJECTIVES", "Objective", "check_has_teacher", "objective_named", "with_berts_batches"]

OBJECTIVES: dict[str, Objective] = {
    objective.name: objective
    for objective in (
        MaskedWordsAndPairs(),
        MaskedWords(),
        MaskedWordsAndOrder(),
        WholeWords(),
        Spans(),
        NextTokens(),
        LimitedAttention(),
        ReplacedTokens(),
        PermutedWords(),
        T5Spans(),
        BartNoise(),
        MassFragment(),
    )
}


def objective_named(name: str) -> Objective:
    """Return an objective.

    KeyError if there is none of that name; `DataConfig` refuses it first.
    """
    return OBJECTIVES[name]


def check_has_teacher(objective: Objective) -> None:
    """Reject an objective that cannot be combined with a teacher's losses.

    ValueError if it is one.
    """
    if not objective.can_have_teacher:
        raise ValueError(
            f"a teacher's losses cannot be combined with the objective {objective.name!r}. Use "
            f"{with_berts_batches()} with a teacher, or leave the teacher out."
        )


def with_berts_batches() -> str:
    """Return the objectives that can be combined with a teacher or a penalty, in words."""
    names = [one.name for one in OBJECTIVES.values() if one.can_have_teacher]
    return f"{', '.join(names[:-1])} or {names[-1]}"
