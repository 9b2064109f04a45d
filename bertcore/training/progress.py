"""The progress of a run: saved with its checkpoints, and reported while it trains."""

from dataclasses import asdict, dataclass, field
from typing import Any

_OLD_NAMES = {"seconds": "elapsed_seconds", "num_seen": "num_examples", "num_bad": "num_skipped"}
"""Names of fields in states of fine-tunings of version 0.1.0."""


@dataclass(slots=True)
class TrainingProgress:
    """The progress of a run, saved with each checkpoint; unused fields keep their defaults."""

    step: int = 0
    """Steps taken."""
    elapsed_seconds: float = 0.0
    """Pretraining: time since the start; fine-tuning: of steps alone, without evaluations."""
    num_tokens: int = 0
    """Tokens trained on, padding not counted; pretraining."""
    num_examples: int = 0
    """Examples trained on; fine-tuning."""
    num_skipped: int = 0
    """Last steps in a row without an update, since their loss was not finite; fine-tuning."""
    num_without_gain: int = 0
    """Last evaluations in a row without a better score; fine-tuning."""
    best: dict[str, Any] | None = None
    """"value" and "step" of the best evaluation; fine-tuning."""
    history: list[dict[str, Any]] = field(default_factory=list)
    """The lines of metrics so far; fine-tuning."""

    def to_state(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)

    @classmethod
    def from_state(cls, values: dict[str, Any]) -> "TrainingProgress":
        """Return the progress from the result of `to_state`, also that of version 0.1.0."""
        return cls(**{_OLD_NAMES.get(name, name): value for name, value in values.items()})


@dataclass(frozen=True, slots=True)
class Progress:
    """What a run reports while it trains."""

    step: int
    fraction: float
    """Fraction of the run that is done, 0 to 1."""
    metrics: dict[str, Any]
    """The newest metrics; while a frozen encoder runs once over the data, "encoded" (the fraction
    done) and "of" (which data)."""
    is_scored: bool
    """Whether the metrics include scores on held-out or dev data."""
