"""Gradient times input: the contribution of each token to one answer of a decision."""

from dataclasses import dataclass

import torch
from torch import Tensor

from bertcore.analysis.compare.decision import Decision
from bertcore.analysis.shared.finite import require_finite
from bertcore.bert import with_parts
from bertcore.model import Model
from bertcore.others.model import OtherModel
from bertcore.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class DecisionGradients:
    """One answer, and the contribution of each token to it."""

    target: float
    """Log-odds of the answer against all others, in nats; for a score, the score."""
    values: Tensor
    """Gradient times token vector, summed over its E numbers, float32, [T]; above 0: in favour."""

    def fractions(self) -> Tensor:
        """Return the values over the sum of their magnitudes, [T]: comparable between runs."""
        return self.values / self.values.abs().sum().clamp_min(torch.finfo(torch.float32).tiny)


def decision_gradients(
    bert: Model, trace: Trace, decision: Decision, answer: int, place: int = 0
) -> DecisionGradients:
    """Return gradient times input of an answer for the token embeddings.

    To first order, the decrease of the answer's log-odds if a token's vector becomes 0 (its segment
    and position vectors stay).

    Args:
        trace: A trace of any text or pair; its ids are run again, with gradients.
        decision: Whose head reads the last hidden state.
        answer: 0 to C-1, as in `Decision.names`.
        place: 0 to P-1, as in `Decision.places`.

    ValueError if the answer or the place does not exist, or the run holds NaN.

    Source: Shrikumar et al. 2016, "Not Just a Black Box", for gradient times input; log-odds
        because a number added to all logits changes no answer.
    """
    require_finite(trace.hidden_states[-1], "hidden states")
    ids, segments, positions = (
        torch.tensor([row], device=bert.device)
        for row in (trace.input_ids, trace.segment_ids, trace.position_ids)
    )
    with torch.enable_grad():
        if isinstance(bert, OtherModel):
            parts = bert.module.look_up(ids, segments)
            tokens = parts.token.detach().requires_grad_()
            hidden = bert.module.run_embedded(parts._replace(token=tokens), ids, segments)
        else:
            module = with_parts(bert).module
            parts = module.embeddings.look_up(ids, segments, positions)
            tokens = parts.token.detach().requires_grad_()
            summed = parts._replace(token=tokens).sum
            hidden = module.embeddings.project(module.embeddings.normalize(summed))
            hidden = module.run_layers(hidden)
        logits = decision.logits(hidden, trace)[0]  # [P, C]
        if not (0 <= place < len(logits) and 0 <= answer < logits.shape[1]):
            raise ValueError(
                f"there is no answer {answer} at place {place}; there are {logits.shape[1]} "
                f"answers at {len(logits)} places, both from 0."
            )
        target = log_odds(logits[place], answer)
        (gradient,) = torch.autograd.grad(target, tokens)
    values = (gradient * tokens.detach()).float().sum(-1)[0].cpu()
    return DecisionGradients(float(target.detach()), values)


def log_odds(logits: Tensor, answer: int) -> Tensor:
    """Return ln p / (1 - p) of an answer from logits [C]; a single output is returned unchanged.

    >>> round(float(log_odds(torch.tensor([1.0, 3.0]), 1)), 6)
    2.0
    """
    if len(logits) == 1:
        return logits[0]
    others = torch.cat([logits[:answer], logits[answer + 1 :]])
    return logits[answer] - others.logsumexp(0)
