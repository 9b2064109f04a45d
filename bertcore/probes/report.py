"""Settings and results of probes."""

from collections.abc import Callable
from dataclasses import dataclass

from bertcore.probes.data_sets import ProbeSentence, Task
from bertcore.probes.linear import CodeLength, LinearProbe
from bertcore.probes.scores import Score
from bertcore.probes.structural import RANK, StructuralProbe
from bertcore.probes.vectors import POOLINGS

Progress = Callable[[float, str], None]
"""Called with the fraction done and the current stage; may raise to stop."""
Probe = LinearProbe | StructuralProbe


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSettings:
    """The settings of the probes."""

    layers: tuple[int, ...] | None = None
    """Hidden states to probe; 0, the embeddings' output, is always one of them. None: all."""
    pooling: str = "mean"
    """How the vectors of a word's pieces become one: "mean" or "first"."""
    control: bool = True
    """Train a probe on a control task too, for the selectivity; not of trees."""
    twin: bool = True
    """Probe a network of the same shape with random weights too."""
    code: bool = True
    """Measure the online code length; not of trees."""
    cumulative: bool = True
    """Probe mixes of the layers, for the expected layer; not of trees."""
    rank: int = RANK
    """Rows of the map of a structural probe."""
    seed: int = 0
    """Of the division into train, dev and test, the control task, the twin's weights and the
    first weights of a structural probe."""
    max_sentences: int | None = None
    """Sentences taken, at random; None: all."""

    def __post_init__(self) -> None:
        if self.pooling not in POOLINGS:
            raise ValueError(f"pooling is {self.pooling!r}; expected {' or '.join(POOLINGS)}.")
        if self.rank < 1:
            raise ValueError(f"rank is {self.rank}; expected at least 1, such as {RANK}.")


@dataclass(frozen=True, eq=False)
class LayerResult:
    """The scores of one layer's probes on the test part."""

    layer: int
    scores: dict[str, Score]
    """By measure, the main one first: accuracy; of entities f1 and accuracy; see `probe_trees`."""
    probe: Probe
    control: Score | None = None
    """Accuracy on the control task."""
    selectivity: Score | None = None
    """Accuracy minus that on the control task."""
    code: CodeLength | None = None
    control_code: CodeLength | None = None

    @property
    def main(self) -> Score:
        """The main score, which is plotted."""
        return next(iter(self.scores.values()))


@dataclass(frozen=True, eq=False)
class ProbeReport:
    """The probes of a checkpoint for one task."""

    task: Task
    labels: tuple[str, ...]
    """The classes, C of them; () of a structural probe."""
    layers: tuple[LayerResult, ...]
    twin: tuple[LayerResult, ...]
    """Of a network with random weights; () without."""
    baselines: dict[str, dict[str, Score]]
    """Baselines without vectors: name -> measure -> score."""
    cumulative: tuple[float, ...]
    """Main score of the probes on mixes of the layers up to each; () without."""
    expected_layer: Score | None
    """See `expected_layer_score`."""
    num_sentences: dict[str, int]
    """By part."""
    num_words: dict[str, int]
    """By part; words without a piece are not counted."""
    test: tuple[ProbeSentence, ...]
    """The sentences of the test part."""
    pooling: str
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> LayerResult:
        """The layer with the highest main score; the first one if tied."""
        return max(self.layers, key=lambda result: result.main.value)
