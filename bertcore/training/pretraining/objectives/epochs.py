"""Batches over a corpus of any size: rounds and windows, and phases of short and long rows."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from random import Random
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.configs import DataConfig
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.engine.processes import Processes
from bertcore.training.pretraining.data.batches import Batch, BatchSource, cut
from bertcore.training.pretraining.data.corpus import PackedCorpus
from bertcore.training.pretraining.data.rows import Instances, PackedRows, join_rows
from bertcore.training.pretraining.objectives import objective_named

BLOCK_SENTENCES = 4096
"""Approximate number of sentences in a block: some 100,000 tokens."""
WINDOW_BLOCKS = 64
"""Number of blocks, from all over the corpus, that are cut and shuffled together."""


@dataclass(slots=True)
class Place:
    """The open window, and the step of its first batch."""

    round: int = 0
    window: int = 0
    first_step: int = 0


class _Window(NamedTuple):
    """Instances and their order."""

    instances: Instances | PackedRows
    order: NDArray[np.int64]


class Batches:
    """An endless, reproducible sequence of batches; a round passes over the whole corpus once.

    A round takes blocks of documents in a new order, a window of blocks at a time: each window is
    cut into instances, which are shuffled and divided into batches (an incomplete last batch is
    dropped). Memory holds this window and the next one, which is cut in the background, however
    large the corpus is; a corpus smaller than a window (some 6 million tokens) is shuffled as a
    whole.

    (seed, round, window, step) determine everything; `place` is where to start, earlier steps are
    reached by starting over. With static masks (`dupe_factor` N), the pairs and masks of round r
    are those of round r modulo N, and a row keeps its masks at any step.

    ValueError if a window gives fewer instances than one batch.
    """

    def __init__(
        self,
        corpus: PackedCorpus,
        tokenizer: Tokenizer,
        config: DataConfig,
        *,
        seed: int,
        place: Place | None = None,
    ) -> None:
        self.corpus = corpus
        self.tokenizer = tokenizer
        self.config = config
        self.objective = objective_named(config.objective)
        self.seed = seed
        self._blocks = _block_starts(corpus)
        # A window has dozens of batches, so little is dropped at its end.
        self._window_blocks = max(WINDOW_BLOCKS, config.batch_size // 16)
        self.num_windows = max(1, (len(self._blocks) - 1) // self._window_blocks)
        self._ahead: tuple[Place, Future[_Window]] | None = None
        self._go_to(place or Place())

    def _go_to(self, place: Place) -> None:
        """Open the window at `place`, which was cut in the background if it is the next one."""
        ahead, self._ahead = self._ahead, None
        window = ahead[1].result() if ahead and ahead[0] == place else self._cut_window(place)
        self.place = place
        self._instances, self._order = window

    def _cut_ahead(self) -> None:
        """Start to cut the next window in the background, so that an accelerator does not wait."""
        place = self._next_place()
        executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cut-ahead")
        self._ahead = place, executor.submit(self._cut_window, place)
        executor.shutdown(wait=False)  # it ends once the window is cut

    def _next_place(self) -> Place:
        place = self.place
        last = place.window + 1 == self.num_windows
        return Place(
            round=place.round + last,
            window=0 if last else place.window + 1,
            first_step=place.first_step + len(self._order) // self.config.batch_size,
        )

    def _cut_window(self, place: Place) -> _Window:
        """Cut and shuffle the instances of a window."""
        order = np.random.default_rng([self.seed, place.round, 1]).permutation(
            len(self._blocks) - 1
        )
        chosen = np.array_split(order, self.num_windows)[place.window]
        # A block's pairs depend on the round, but not on its place in the round.
        version = self._version(place.round)
        instances = join_rows(
            [
                cut(
                    self.corpus,
                    self.config,
                    rng=Random(f"{self.seed}/{version}/{block}"),
                    documents=range(int(self._blocks[block]), int(self._blocks[block + 1])),
                )
                for block in chosen
            ]
        )
        if len(instances) < self.config.batch_size:
            raise ValueError(
                f"the corpus gives {len(instances)} training "
                f"instance{'' if len(instances) == 1 else 's'}, fewer than one batch of "
                f"{self.config.batch_size}. Give more text or a smaller batch_size."
            )
        rng = np.random.default_rng([self.seed, place.round, 2, place.window])
        return _Window(instances, rng.permutation(len(instances)))

    @property
    def num_instances(self) -> int:
        """Number of rows in the open window."""
        return len(self._instances)

    def batch(
        self, step: int, *, part: slice | None = None, device: torch.device | str = "cpu"
    ) -> Batch:
        """Return the batch of step 0, 1, 2, ...; steps in order are fastest.

        `part` are rows of it, as they are in the batch; `device` is where it is made, for
        objectives that draw there. A GPU draws other masks than a CPU.
        """
        instances = self._instances_at(step)
        where = torch.device(device if self.objective.draws_on_device else "cpu")
        generator = self._generators(step, instances, where)
        source = BatchSource(self.corpus, instances, self.tokenizer, self.config, generator, part)
        return self.objective.batch(source)

    def first(self, most: int = 8) -> Iterator[Batch]:
        """Yield at most `most` batches from the start of the first window, made on the CPU."""
        for step in range(min(most, len(self._order) // self.config.batch_size)):
            yield self.batch(step)

    def _version(self, round_number: int) -> int:
        """Return the version of the corpus's pairs and masks in a round."""
        dupe_factor = self.config.dupe_factor
        return round_number % dupe_factor if dupe_factor else round_number

    def _generators(
        self, step: int, instances: Instances | PackedRows, device: torch.device
    ) -> torch.Generator | list[torch.Generator]:
        """Return the sources of the masks: one per step or, for static masks, per instance."""
        if not self.config.dupe_factor:
            return _generator(device, self.seed, step)
        version = self._version(self.place.round)
        # No two instances of a version begin at the same token.
        starts = instances.spans[:, 0].tolist()
        return [_generator(device, self.seed, version, start) for start in starts]

    def _instances_at(self, step: int) -> Instances | PackedRows:
        if step < self.place.first_step:
            self._go_to(Place())
        while step >= (following := self._next_place()).first_step:
            self._go_to(following)
        if self._ahead is None and 2 * step >= self.place.first_step + following.first_step:
            self._cut_ahead()
        size = self.config.batch_size
        first = (step - self.place.first_step) * size
        return self._instances.take(self._order[first : first + size])

    def state(self) -> dict[str, int]:
        """Return `place` for a checkpoint, so that a resumed run need not cut earlier windows."""
        return asdict(self.place)


def _block_starts(corpus: PackedCorpus) -> NDArray[np.int64]:
    """Return the first document of each block, and the end of the last."""
    marks = np.arange(0, corpus.num_sentences, BLOCK_SENTENCES)
    starts = np.searchsorted(np.asarray(corpus.document_starts), marks, side="left")
    starts = starts[starts < corpus.num_documents]
    return np.append(np.unique(starts), corpus.num_documents).astype(np.int64)


def _generator(device: torch.device, *numbers: int) -> torch.Generator:
    """Return a random source determined by the numbers, independent of its neighbours."""
    state = np.random.SeedSequence(numbers).generate_state(1, np.uint64)
    return torch.Generator(device).manual_seed(int(state[0]) >> 1)


_LONG_SEED = 2**63
"""Added to the run's seed (always smaller), so that the long phase has other pairs and masks."""


class Phases:
    """The batches of a run, short rows first, and each process's parts of them.

    Each phase has its own `Batches`; `DataConfig.long_phase` has the settings of the second. A run
    by the clock enters its second phase at the first step after its time, which its checkpoints
    record.

    Args:
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
        self._device, self._makes_ahead = processes.device, make_ahead
        self._long_config = config.long_phase()
        settings = (config, self._long_config or config)
        self._rows, self._long_rows = (processes.rows(c.batch_size, num_parts) for c in settings)
        self.short = self._open(config, seed, state.get("short"))
        self._long: Batches | None = None
        self._long_start: int | None = state.get("long_start")
        if self._long_start is not None:
            self._open_long(state["long"])
        self._ahead: tuple[Batches, int, Future[list[Batch]]] | None = None

    def _open(self, config: DataConfig, seed: int, place: dict[str, int] | None = None) -> Batches:
        at = None if place is None else Place(**place)
        return Batches(self._corpus, self._tokenizer, config, seed=seed, place=at)

    def _open_long(self, place: dict[str, int] | None) -> Batches:
        assert self._long_config is not None
        self._long = self._open(self._long_config, self._seed + _LONG_SEED, place)
        return self._long

    def parts(self, step: int, fraction: float) -> list[Batch]:
        """Return this process's parts of the batch of `step`, at `fraction` of the run, 0 to 1."""
        batches, number, rows = self.short, step, self._rows
        if self._is_long(fraction):
            if self._long_start is None:
                self._long_start = step
            batches = self._long or self._open_long(None)
            number, rows = step - self._long_start, self._long_rows
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            wait([ahead[2]])  # in any case: it changes the window of its `Batches`
        if ahead is not None and ahead[:2] == (batches, number):
            parts = ahead[2].result()
        else:
            parts = self._make(batches, number, rows)
        if self._makes_ahead:
            executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batch-ahead")
            future = executor.submit(self._make, batches, number + 1, rows)
            self._ahead = batches, number + 1, future
            executor.shutdown(wait=False)
        return parts

    def _make(self, batches: Batches, number: int, rows: Sequence[slice]) -> list[Batch]:
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

    def samples(self, step: int, fraction: float) -> list[Batch]:
        """Return a part of each remaining shape, for a compiler."""
        samples = []
        if not self._is_long(fraction):
            samples.append(self.short.batch(step, part=self._rows[0], device=self._device))
        if self._long_config is not None:
            trial = self._open(self._long_config, 0)
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
        return self._long_config is not None and fraction >= 1.0 - self._config.long_ratio
