"""Fit a tuned lens: hide words of a text, and bring each layer's words closer to the last's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.shared.inputs import text_positions
from bertcore.analysis.tuned_lens.tuned import (
    LensGain,
    TunedLens,
    compare,
    gain_of,
    log_probabilities,
)
from bertcore.likelihood.hidden_tokens import LOGITS_PER_CHUNK, Row, padded_batches
from bertcore.model import Model
from bertcore.network.protocol import Encoder

LONGEST = 128
"""Maximum number of tokens per sentence; the rest is cut off."""
FEWEST = 200
"""Minimum number of hidden tokens for a fit."""
FEWEST_HELD_OUT = 20
"""Minimum number of sentences for a meaningful interval."""

OnFraction = Callable[[float, str], None]
"""Called with the fraction of the work done, 0 to 1, and the stage. May raise, to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedLensSettings:
    """Settings of the fit of a tuned lens."""

    num_steps: int = 250
    """Steps of Adam for each layer."""
    batch_size: int = 128
    """Hidden tokens per step."""
    learning_rate: float = 1e-3
    """Learning rate at the first step; it decays linearly to 0."""
    num_tokens: int = 8000
    """Maximum number of hidden tokens to fit on."""
    num_held_out: int = 1500
    """Maximum number of hidden tokens of other sentences for measuring the gain; a fifth of a short
    text."""
    masked_prob: float = 0.15
    """Share of a sentence's tokens that are hidden, at least one."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the numbers; ValueError if one is out of range."""
        for name in ("num_steps", "batch_size", "num_tokens", "num_held_out"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; expected at least 1.")
        if not 0 < self.masked_prob < 1:
            raise ValueError(f"masked_prob is {self.masked_prob}; expected 0 to 1.")
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate is {self.learning_rate}; expected above 0.")


class _States(NamedTuple):
    """Hidden states at hidden tokens."""

    states: Tensor
    """float32 on the CPU, [L+1, N, D]."""
    owners: NDArray[np.int64]
    """Number of the sentence of each, [N]."""


def fit_tuned_lens(
    model: Model,
    sentences: Sequence[str],
    settings: TunedLensSettings | None = None,
    *,
    text: str = "a text",
    on_fraction: OnFraction = lambda fraction, stage: None,
) -> TunedLens:
    """Fit an affine map for each hidden state but the last, and measure its gain.

    Tokens are replaced by [MASK]; the maps are fitted at the hidden tokens alone, so at visible
    tokens they extrapolate. Each map starts as the identity and minimises KL(last layer || lens)
    with Adam. The gain is measured on held-out sentences.

    Args:
        model: A checkpoint with a masked-word head that can read earlier layers.

    ValueError if there is no such head, too little text, or numbers are NaN or infinite.

    Source: Belrose et al. 2023, section 3 and appendix A. Differs: Adam instead of SGD with
    Nesterov momentum, and hidden tokens instead of all.
    """
    model.require("lens")
    model.require("mlm")
    settings = settings or TunedLensSettings()
    rng = np.random.default_rng(settings.seed)
    on_fraction(0.0, "Hiding words and running the text")
    held_out, train = _collect(model, sentences, settings, rng, on_fraction)
    weights, biases = _fit(model, train.states, settings, rng, on_fraction)
    on_fraction(0.9, "Measuring the gain on held-out sentences")
    gain = _measure(model, held_out, weights, biases)
    return TunedLens(
        weights=weights.cpu(),
        biases=biases.cpu(),
        checkpoint=model.name,
        fingerprint="" if model.report is None else model.report.fingerprint,
        text=text,
        num_tokens=len(train.owners),
        num_steps=settings.num_steps,
        gain=gain,
    )


def _collect(
    model: Model,
    sentences: Sequence[str],
    settings: TunedLensSettings,
    rng: np.random.Generator,
    on_fraction: OnFraction,
) -> tuple[_States, _States]:
    """Return the states of held-out and of other sentences."""
    order = rng.permutation(len(sentences)).tolist()
    rows: list[Row] = []
    places: list[list[int]] = []
    most = settings.num_tokens + settings.num_held_out
    count = 0
    for number in order:
        encoding = model.tokenize(sentences[number], max_length=LONGEST)
        text = text_positions(encoding)
        if not text:
            continue
        size = max(1, round(settings.masked_prob * len(text)))
        hidden = sorted(rng.choice(text, size, replace=False).tolist())
        ids = list(encoding.input_ids)
        for place in hidden:
            ids[place] = model.tokenizer.mask_id
        rows.append(Row(ids, list(encoding.segment_ids)))
        places.append(hidden)
        count += size
        if count >= most:
            break
    sizes = np.array([len(hidden) for hidden in places], dtype=np.int64)
    most_held_out = min(settings.num_held_out, count // 5)
    cut = int(np.searchsorted(sizes.cumsum(), most_held_out, side="right"))
    if count < FEWEST or cut < FEWEST_HELD_OUT:
        raise ValueError(
            f"the text has {len(rows):,} sentences with {count:,} hidden tokens; a tuned lens "
            f"needs at least {FEWEST}, and {FEWEST_HELD_OUT} sentences besides those it is fitted "
            "on. Give a longer text."
        )
    states = _run(model, rows, places, on_fraction)
    owners = np.repeat(np.arange(len(rows)), sizes)
    is_held_out = torch.from_numpy(owners < cut)
    return (
        _States(states[:, is_held_out], owners[owners < cut]),
        _States(states[:, ~is_held_out], owners[owners >= cut]),
    )


@torch.no_grad()
def _run(
    model: Model, rows: Sequence[Row], places: Sequence[Sequence[int]], on_fraction: OnFraction
) -> Tensor:
    """Return the hidden states at the hidden tokens of all rows, [L+1, N, D], in order."""
    states_of: dict[int, Tensor] = {}
    for batch_rows, ids, segments, mask in padded_batches(model, rows):
        attention_mask = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask
        every = model.module.every_state(ids, segments, attention_mask).float().cpu()
        states_of |= {n: every[:, row, list(places[n])] for row, n in enumerate(batch_rows)}
        on_fraction(0.3 * len(states_of) / len(rows), "Running the text with hidden words")
    states = torch.cat([states_of[n] for n in range(len(rows))], dim=1)
    if not bool(torch.isfinite(states).all()):
        raise ValueError(
            "hidden states are NaN or infinite: the weights are damaged. Copy the checkpoint again."
        )
    return states


def _head(module: Encoder, states: Tensor) -> Tensor:
    """Return log p of an earlier state, [N, V], read as `layer_predictions` reads it."""
    return log_probabilities(module.mlm_logits(module.read_early(torch.stack([states, states]))[0]))


def _end(module: Encoder, states: Tensor) -> Tensor:
    """Return log p of the last state, [N, V]."""
    return log_probabilities(module.mlm_logits(states))


def _fit(
    model: Model,
    states: Tensor,
    settings: TunedLensSettings,
    rng: np.random.Generator,
    on_fraction: OnFraction,
) -> tuple[Tensor, Tensor]:
    """Return weights [L, D, D] and biases [L, D]."""
    module, device, dtype = model.module, model.device, model.dtype
    depth, width = len(states) - 1, states.shape[-1]
    weights = torch.zeros(depth, width, width, device=device, requires_grad=True)
    biases = torch.zeros(depth, width, device=device, requires_grad=True)
    optimizer = torch.optim.Adam([weights, biases], lr=settings.learning_rate)
    count = states.shape[1]
    for step in range(settings.num_steps):
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * (1 - step / settings.num_steps)
        chosen = rng.integers(0, count, min(settings.batch_size, count))
        batch = states[:, torch.from_numpy(chosen)].to(device)
        with torch.no_grad():
            end = _end(module, batch[-1].to(dtype))
            wanted = end.exp()
        weights.grad, biases.grad = torch.zeros_like(weights), torch.zeros_like(biases)
        for layer in range(depth):
            # A copy of one layer's map: gradients of the others would be zeros to add up.
            weight = weights[layer].detach().requires_grad_()
            bias = biases[layer].detach().requires_grad_()
            read = batch[layer] + batch[layer] @ weight.T + bias
            loss = (wanted * (end - _head(module, read.to(dtype)))).sum(-1).mean()
            weights.grad[layer], biases.grad[layer] = torch.autograd.grad(loss, [weight, bias])
        optimizer.step()
        on_fraction(0.3 + 0.6 * (step + 1) / settings.num_steps, "Fitting a map for each layer")
    return weights.detach(), biases.detach()


@torch.no_grad()
def _measure(model: Model, held_out: _States, weights: Tensor, biases: Tensor) -> LensGain:
    module, depth = model.module, len(weights)
    count = held_out.states.shape[1]
    bits, agrees = np.empty((2, depth, count)), np.empty((2, depth, count))
    for start in range(0, count, LOGITS_PER_CHUNK):
        part = slice(start, start + LOGITS_PER_CHUNK)
        batch = held_out.states[:, part].to(model.device)
        end = _end(module, batch[-1].to(model.dtype))
        for layer in range(depth):
            plain = batch[layer]
            tuned = plain + plain @ weights[layer].T + biases[layer]
            for kind, state in enumerate((plain, tuned)):
                comparison = compare(end, _head(module, state.to(model.dtype)))
                bits[kind, layer, part] = comparison[0].cpu().numpy()
                agrees[kind, layer, part] = comparison[1].cpu().numpy()
    return gain_of(bits, agrees, held_out.owners)
