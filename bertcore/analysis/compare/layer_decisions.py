"""The decision read at each layer, and the layer from which it no longer changes.

A head was trained on the last hidden state only. Its answer on an earlier one shows how close that
state already is to the final answer in the head's own terms, not what the layer "thinks".
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.compare.before_after import check_finite
from bertcore.analysis.compare.decision import Decision
from bertcore.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class LayerDecisions:
    """The answers of a head at every hidden state; index 0 is the embeddings' output."""

    kind: str
    """Kind of the decision."""
    names: tuple[str, ...]
    """Names of the C answers."""
    places: tuple[int, ...]
    """The tokens decided on, [P]; -1 for the text as a whole."""
    labels: tuple[str, ...]
    """For "labels" the label of each place, [P]; () for the others."""
    logits: NDArray[np.float32]
    """[L+1, P, C]"""
    probabilities: NDArray[np.float32]
    """Softmax of the logits, [L+1, P, C]; for a score the score itself, which is not a probability.
    """
    answers: NDArray[np.int64]
    """The most probable answer at each layer, [L+1, P]."""
    settled: tuple[int | None, ...]
    """The first layer from which the answer is the final one, [P]; None for a score."""

    @property
    def final(self) -> list[str]:
        """The model's own answer at each place."""
        return [self.names[i] for i in self.answers[-1]]

    def of_final(self) -> NDArray[np.float32]:
        """Return the probability of the final answer at each layer, [L+1, P]."""
        rows = np.arange(len(self.places))
        return self.probabilities[:, rows, self.answers[-1]]


@torch.no_grad()
def layer_decisions(decision: Decision, trace: Trace, device: torch.device) -> LayerDecisions:
    """Read a decision from every hidden state of a run.

    The last row is the model's own answer, with the same numbers as in `transformers`.

    Args:
        decision: A decision of this checkpoint, or of another one of the same width.
        trace: A trace of any text or pair that poses the question (`Decision.applies_to`).

    ValueError if the input does not pose the question, the widths differ, or the run holds NaN.

    Source: nostalgebraist 2020, "interpreting GPT: the logit lens", with a classifier's head.
    """
    check_finite(trace)
    if not decision.applies_to(trace):
        needed = "a pair of texts" if decision.kind == "next" else "a [MASK] in the text"
        raise ValueError(f"there is nothing to decide: the question needs {needed}.")
    states = decision.read_early(trace.hidden_states.to(device))
    logits = decision.logits(states, trace).float().cpu()
    is_score = decision.kind == "score"
    answers = logits.argmax(-1).numpy()
    places = decision.places(trace)
    settled = tuple(
        None if is_score else settling_layer(answers[:, place].tolist())
        for place in range(len(places))
    )
    return LayerDecisions(
        kind=decision.kind,
        names=tuple(decision.names(trace)),
        places=tuple(places),
        labels=decision.labels if decision.kind == "labels" else (),
        logits=logits.numpy(),
        probabilities=(logits if is_score else logits.softmax(-1)).numpy(),
        answers=answers,
        settled=settled,
    )


def settling_layer(answers: list[int]) -> int:
    """Return the first layer from which all answers equal the last one.

    >>> settling_layer([1, 0, 1, 1])
    2
    >>> settling_layer([0, 0])
    0
    """
    layer = len(answers) - 1
    while layer > 0 and answers[layer - 1] == answers[-1]:
        layer -= 1
    return layer
