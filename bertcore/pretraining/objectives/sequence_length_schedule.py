"""The paper's two phases: most of a run in short rows, its end in long ones."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from bertcore.configs import DataConfig
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.objectives.epochs import Batches, Place
from bertcore.pretraining.objectives.objective import TrainingBatch
from bertcore.tokenizer import Tokenizer
from bertcore.training.processes import Processes

_LONG_SEED = 2**63
"""Added to the run's seed (always smaller), so that the long phase has other pairs and masks."""


class Phases:
    """The batches of a run, short rows first, and each process's parts of them.

    Each phase has its own `Batches`; `DataConfig.long_phase` has the settings of the second. A run
    by the clock enters its second phase at the first step after its time, which its checkpoints
    record.

    Args:
        corpus, tokenizer, config, seed: As for `Batches`.
        processes: The processes that train together.
        num_parts: Parts that each process handles in turn for one step.
        state: The state in a checkpoint, from `state`.
        make_ahead: Make the next batch in the background, while a GPU is busy with this one.

    ValueError if a batch cannot be divided evenly, or the corpus is too small for it.

    In the first long step, some position vectors are untrained: see `extend_positions`.

    Source: Devlin et al. 2019, appendix A.2 (90% of steps in rows of 128, then 512). Differs: fewer
        long rows per step, where the paper keeps their number.
    """

    def __init__(
        self,
        corpus: PackedCorpus,
        tokenizer: Tokenizer,
        config: DataConfig,
        *,
        seed: int,
        processes: Processes,
        num_parts: int,
        state: dict[str, Any] | None = None,
        make_ahead: bool = False,
    ) -> None:
        state = state or {}
        self._corpus, self._tokenizer, self._config, self._seed = corpus, tokenizer, config, seed
        self._device = processes.device
        self._rows = processes.rows(config.batch_size, num_parts)
        self._long_config = config.long_phase()
        if self._long_config is not None:
            self._long_rows = processes.rows(self._long_config.batch_size, num_parts)
        place = Place(**state["short"]) if "short" in state else None
        self.short = Batches(corpus, tokenizer, config, seed=seed, place=place)
        self._long: Batches | None = None
        self._long_start: int | None = state.get("long_start")
        if self._long_start is not None:
            self._open_long(Place(**state["long"]))
        self._makes_ahead = make_ahead
        self._ahead: tuple[Batches, int, Future[list[TrainingBatch]]] | None = None

    def parts(self, step: int, fraction: float) -> list[TrainingBatch]:
        """Return this process's parts of the batch of `step`, at `fraction` of the run, 0 to 1."""
        if self._long_config is None or not self._is_long(fraction):
            batches, number, rows = self.short, step, self._rows
        else:
            if self._long_start is None:
                self._long_start = step
                self._open_long(None)
            assert self._long is not None
            batches, number, rows = self._long, step - self._long_start, self._long_rows
        ahead, self._ahead = self._ahead, None
        if ahead is None:
            parts = self._make(batches, number, rows)
        else:
            made, its_number, future = ahead
            wait([future])  # in any case: it changes the window of its `Batches`
            is_wanted = (made, its_number) == (batches, number)
            parts = future.result() if is_wanted else self._make(batches, number, rows)
        if self._makes_ahead:
            executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batch-ahead")
            self._ahead = (
                batches,
                number + 1,
                executor.submit(self._make, batches, number + 1, rows),
            )
            executor.shutdown(wait=False)
        return parts

    def _make(self, batches: Batches, number: int, rows: Sequence[slice]) -> list[TrainingBatch]:
        return [batches.batch(number, part=part, device=self._device) for part in rows]

    @property
    def num_short(self) -> int:
        """Number of tokens in a row of the first phase."""
        return self._config.max_seq_length

    @property
    def is_last(self) -> bool:
        """Whether the second phase has begun, or there is none."""
        return self._long_config is None or self._long_start is not None

    def long_begins(self, step: int) -> bool:
        """Return whether the second phase began with this step; call it after `parts`."""
        return self._long_start == step

    def samples(self, step: int, fraction: float) -> list[TrainingBatch]:
        """Return a part of each remaining shape, for a compiler."""
        samples = []
        if self._long_config is None or not self._is_long(fraction):
            samples.append(self.short.batch(step, part=self._rows[0], device=self._device))
        if self._long_config is not None:
            trial = Batches(self._corpus, self._tokenizer, self._long_config, seed=0)
            samples.append(trial.batch(0, part=self._long_rows[0], device=self._device))
        return samples

    def state(self) -> dict[str, Any]:
        """Return, for a checkpoint, the state of both phases and the start of the second."""
        if self._ahead is not None:
            wait([self._ahead[2]])  # if it failed, only the step that needs it does
        return {
            "short": self.short.state(),
            "long": None if self._long is None else self._long.state(),
            "long_start": self._long_start,
        }

    def _is_long(self, fraction: float) -> bool:
        return fraction >= 1.0 - self._config.long_ratio

    def _open_long(self, place: Place | None) -> None:
        assert self._long_config is not None
        self._long = Batches(
            self._corpus,
            self._tokenizer,
            self._long_config,
            seed=self._seed + _LONG_SEED,
            place=place,
        )
