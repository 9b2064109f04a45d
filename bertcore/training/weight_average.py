"""The running mean of a network's weights over the end of a run."""

import copy
from typing import Any

import torch

from bertcore.network import Network


class WeightAverage:
    """The mean of the weights after each step that was added; the t-th counts in proportion to t.

    A mean over the steps of a decay is less noisy than the last step. Late steps count more, since
    the early ones were taken at a high learning rate, far from the end.

    The network is copied.

    Source: polynomial-decay averaging, Shamir and Zhang 2013, section 4, with eta = 1.
    """

    def __init__(self, network: Network) -> None:
        self.network = copy.deepcopy(network).requires_grad_(False)
        self.count = 0
        """Number of steps in the mean; 0: the weights are those of the start."""

    @torch.no_grad()
    def add(self, network: Network) -> None:
        """Add the weights after a step."""
        self.count += 1
        new_weight = 2 / (self.count + 1)
        for mean, new in zip(self.network.parameters(), network.parameters(), strict=True):
            mean.lerp_(new, new_weight)

    def state(self) -> dict[str, Any]:
        """Return count and weights, for a checkpoint."""
        return {"count": self.count, "weights": self.network.state_dict()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the state in a checkpoint."""
        self.count = state["count"]
        self.network.load_state_dict(state["weights"])
