"""The objectives that can be trained, one class each, by name."""

from bertcore.training.pretraining.objectives.denoising import BartNoise, MassFragment, T5Spans
from bertcore.training.pretraining.objectives.masked_words import (
    LimitedAttention,
    MaskedWords,
    MaskedWordsAndOrder,
    MaskedWordsAndPairs,
    NextTokens,
    WholeWords,
)
from bertcore.training.pretraining.objectives.objective import Objective
from bertcore.training.pretraining.objectives.permutation import PermutedWords
from bertcore.training.pretraining.objectives.replaced_tokens import ReplacedTokens
from bertcore.training.pretraining.objectives.spans import Spans

__all__ = ["OBJECTIVES", "Objective", "check_has_teacher", "objective_named"]

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
    """Return an objective; KeyError for a name that `DataConfig` refuses."""
    return OBJECTIVES[name]


def check_has_teacher(objective: Objective) -> None:
    """Reject an objective that cannot be combined with a teacher's losses; ValueError if so."""
    if not objective.can_have_teacher:
        names = [name for name, each in OBJECTIVES.items() if each.can_have_teacher]
        raise ValueError(
            f"a teacher's losses cannot be combined with the objective {objective.name!r}. Use "
            f"{', '.join(names[:-1])} or {names[-1]} with a teacher, or leave the teacher out."
        )
