"""A fine-tuning before it is started: how many steps and evaluations, how long, which options."""

import math
from dataclasses import dataclass

from bertcore.base.durations import duration
from bertcore.finetuning.label_curve import STARTS
from bertcore.finetuning.speed import Speed

MOST_EVALUATIONS = 10  # besides those at the ends of epochs
_SCORING_COST = 1 / 3
"""Time to score an example, relative to learning from it: forward against forward and backward."""
_MOST_SCORING = 0.2  # fraction of the learning that the further evaluations may cost
SAMPLES = (1_000, 5_000, 20_000, 100_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much a run does."""

    num_examples: int
    """Examples in the table."""
    sample: int
    """Those that are used; 0 for all."""
    held_out: float | None
    """Fraction of those that are scored; None if they come from a file."""
    num_in_dev_file: int
    epochs: int
    batch_size: int = 32

    @property
    def num_used(self) -> int:
        """Examples of the table that are used."""
        return min(self.sample or self.num_examples, self.num_examples)

    @property
    def num_dev(self) -> int:
        """Examples that are scored, about."""
        if self.held_out is None:
            return self.num_in_dev_file
        return max(1, round(self.held_out * self.num_used))

    @property
    def num_train(self) -> int:
        """Examples to learn from, about."""
        return self.num_used - (self.num_dev if self.held_out is not None else 0)

    @property
    def evaluate_every(self) -> int:
        """Steps between two evaluations: about ten in a run, fewer if scoring would cost much."""
        learning = self.epochs * self.num_train
        affordable = int(_MOST_SCORING * learning / (_SCORING_COST * max(1, self.num_dev)))
        number = max(self.epochs, min(MOST_EVALUATIONS, affordable))
        return max(1, math.ceil(self._num_steps / number))

    @property
    def num_evaluations(self) -> int:
        """Evaluations: every `evaluate_every` steps, and at the end of each epoch."""
        ends = {epoch * self._steps_an_epoch for epoch in range(1, self.epochs + 1)}
        return len(ends | set(range(self.evaluate_every, self._num_steps + 1, self.evaluate_every)))

    @property
    def _steps_an_epoch(self) -> int:
        return math.ceil(max(1, self.num_train) / self.batch_size)

    @property
    def _num_steps(self) -> int:
        return self.epochs * self._steps_an_epoch

    def seconds(self, speed: Speed) -> float:
        """Return about how long it takes."""
        return speed.seconds(
            num_train=self.num_train,
            num_dev=self.num_dev,
            epochs=self.epochs,
            num_evaluations=self.num_evaluations,
        )

    def sentence(self, speed: Speed) -> str:
        """Return how long it takes and what that rests on, in Markdown."""
        epochs = "1 epoch" if self.epochs == 1 else f"{self.epochs} epochs"
        return (
            f"**About {rounded(self.seconds(speed))}**: {epochs} of {self.num_train:,} examples of "
            f"{speed.tokens_per_example:.0f} tokens at {speed.train_tokens:,.0f} tokens per "
            f"second, and {self.num_evaluations} evaluations of {self.num_dev:,}. Measured just "
            "now on this machine with this checkpoint; starting, saving and other work on it are "
            "extra."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPlan(Plan):
    """How much a series by number of labels does; `epochs` are the least of each fine-tuning."""

    numbers: tuple[int, ...]
    """Of labels."""
    num_seeds: int
    least_steps: int

    @property
    def fraction_drawn(self) -> float:
        """Examples of all samples that it writes, relative to those of the table."""
        return self.num_seeds * sum(self.numbers) / self.num_examples

    @property
    def num_runs(self) -> int:
        """Fine-tunings of the series."""
        return len(STARTS) * len(self.numbers) * self.num_seeds

    def seconds(self, speed: Speed) -> float:
        """Return about how long it takes."""
        total = 0.0
        for number in self.numbers:
            # `run_label_curve` counts the same; a frozen encoder reads each text once.
            batches = math.ceil(number / self.batch_size)
            epochs = max(self.epochs, math.ceil(self.least_steps / batches))
            total += 2 * speed.seconds(
                num_train=number, num_dev=self.num_dev, epochs=epochs, num_evaluations=1
            )
            total += (number + self.num_dev) / speed.score_examples
        return self.num_seeds * total

    def sentence(self, speed: Speed) -> str:
        """Return how long it takes and what that rests on, in Markdown."""
        return (
            f"**About {rounded(self.seconds(speed))}**: {self.num_runs} fine-tunings, each scored "
            f"on {self.num_dev:,} examples. Estimated from the speed of this checkpoint, measured "
            "just now on this machine; starting and other work on it are extra."
        )


def rounded(seconds: float) -> str:
    """Return a duration with as many digits as an estimate has.

    >>> rounded(3), rounded(47), rounded(400), rounded(20000)
    ('10 s', '50 s', '7 min', '5 h 35 min')
    """
    if seconds <= 50:
        return f"{max(1, math.ceil(seconds / 10)) * 10} s"
    if seconds < 3600:
        return f"{math.ceil(seconds / 60)} min"
    return duration(math.ceil(seconds / 300) * 300)


def usual_numbers(plan: Plan, *, num_labels: int) -> list[int]:
    """Return numbers of labels to begin with: 50, 200 and 800, or parts of a small table.

    Args:
        num_labels: Of different labels. Each may have one example less to learn from than
            `plan.num_train`, a rounded number, assumes.
    """
    most = max(2, plan.num_train - num_labels)
    usual = [number for number in (50, 200, 800) if number <= most]
    return usual or sorted({max(2, most // 4), max(2, most // 2)})


def read_numbers(text: str, most: int) -> tuple[int, ...]:
    """Return the numbers of labels in a text such as "50, 200".

    Args:
        text: What was typed.
        most: Examples to learn from.

    ValueError if they cannot be used.

    >>> read_numbers("200, 50", 1000)
    (50, 200)
    """
    if most < 2:
        raise ValueError(
            f"the table has {most} example to learn from beside those that are scored; expected at "
            "least 2. Use a larger table, or score on another file."
        )
    try:
        numbers = tuple(sorted(int(part) for part in text.replace(" ", "").split(",")))
    except ValueError:
        numbers = ()
    if not numbers or len(set(numbers)) < len(numbers) or numbers[0] < 2 or numbers[-1] > most:
        raise ValueError(
            f"the numbers of labels are {text[:60]!r}; expected different ones from 2 to {most:,} "
            "with commas between, such as 50, 200."
        )
    return numbers


def sample_sizes(num_examples: int) -> list[int]:
    """Return the sizes of samples that are offered; 0 for all."""
    return [0, *(size for size in SAMPLES if size < num_examples)]
