"""Which tokens made a model guess a hidden word, and whether the picture is of its weights."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.attribution.gradients import BASELINES, STEPS, EmbeddedRun
from bertcore.analysis.shared.inputs import (
    encoding_of,
    require_finite_logits,
    usual_position,
    word_log_probabilities,
)
from bertcore.analysis.words.logit_attribution import word_id_of
from bertcore.model.bert import with_parts
from bertcore.model.loading.untrained import untrained
from bertcore.model.model import Model
from bertcore.model.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class WordAttribution:
    """The share of each token in a word's logit at one position."""

    tokens: tuple[str, ...]
    """Of the input, [T]."""
    position: int
    word: str
    shares: NDArray[np.float32]
    """[T]; 0 where the baseline has the same token: [CLS], [SEP], and [MASK] under "mask"."""
    logit: float
    baseline: float
    """The logit at the baseline."""
    delta: float
    """Convergence delta: the sum of the shares minus (logit - baseline). 0 would be exact."""


@dataclass(frozen=True, slots=True, eq=False)
class RandomWeightsCheck:
    """Spearman's rank correlation of shares with those of the trained weights.

    Of the shares, and of their sizes without the signs, which random weights turn over: [S, 2].
    """

    word: str
    stages: tuple[str, ...]
    """What becomes random at each step, [S]; "+" says that what came before stays random."""
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    """Mean and range over the draws."""
    num_draws: int
    num_tokens: int
    """Tokens that are ranked: those of the texts that are not hidden."""

    @property
    def chance(self) -> float:
        """What the correlation of two random orders exceeds, up or down, in 5% of cases."""
        return min(1.0, 1.96 / math.sqrt(self.num_tokens - 1))


def attribute_word(
    bert: Model,
    trace: Trace,
    position: int | None = None,
    word: str | None = None,
    *,
    baseline: str = BASELINES[0],
    steps: int = STEPS,
) -> WordAttribution:
    """Return how much each token contributes to a word's logit, by integrated gradients.

    Args:
        position: Where the word is predicted; None for the first [MASK], or else the last word.
        word: One piece of the vocabulary; None for the most probable.
        baseline, steps: As for `integrated_gradients`.

    ValueError if there is no such token or piece, no masked-word head that reads the last hidden
    states, an argument is out of range, or the model answers NaN or infinity.
    """
    for what in ("mlm", "lens"):
        bert.require(what)
    position = usual_position(bert, trace) if position is None else position
    if not 0 <= position < trace.num_tokens:
        raise ValueError(f"position is {position}; the input has {trace.num_tokens} tokens.")
    if word is None:
        state = trace.hidden_states[-1, [position]].to(bert.device)
        (log_p,) = word_log_probabilities(bert, state)
        word_id = int(log_p[0, : bert.tokenizer.vocab_size].argmax())
    else:
        word_id = word_id_of(bert, word)

    def value(hidden: Tensor, mask: Tensor | None) -> Tensor:
        logits = bert.module.mlm_logits(hidden[:, position]).float()
        require_finite_logits([logits.detach()])
        return logits[:, word_id]

    run = EmbeddedRun(bert.module, bert.tokenizer, [encoding_of(bert, trace)], value)
    found = run.integrated(baseline, steps)
    assert found.baseline is not None
    assert found.delta is not None
    return WordAttribution(
        tokens=tuple(trace.tokens),
        position=position,
        word=bert.tokenizer.id_to_token(word_id),
        shares=found.tokens,
        logit=found.value,
        baseline=found.baseline,
        delta=found.delta,
    )


def check_random_weights(
    bert: Model,
    trace: Trace,
    position: int | None = None,
    word: str | None = None,
    *,
    steps: int = 20,
    num_draws: int = 3,
    on_fraction: Callable[[float], None] = lambda fraction: None,
) -> RandomWeightsCheck:
    """Compare the shares of `attribute_word` with those of the model with random weights.

    It is drawn `num_draws` times, at least once. From the head down, one part after the other gets
    new initial weights. An attribution that survives says nothing about the model.

    ValueError as `attribute_word`; if fewer than three tokens can be ranked, or the layers of the
    architecture cannot be changed.

    Source: Adebayo et al. 2018, "Sanity Checks for Saliency Maps", the cascading randomisation. The
        decoder's matrix is the token table, so it follows with the embeddings.
    """
    from scipy.stats import spearmanr  # takes a while to import

    bert = with_parts(bert)
    trained = attribute_word(bert, trace, position, word, steps=steps)
    asked, mask_id = (trained.position, trained.word), bert.tokenizer.mask_id
    inputs = zip(trace.text_ids, trace.input_ids, strict=True)
    places = [i for i, (text, piece) in enumerate(inputs) if text >= 0 and piece != mask_id]
    if len(places) < 3:
        raise ValueError(
            f"{len(places)} tokens are not hidden; expected at least 3, to compare their order."
        )
    stages = _stages([name for name, _ in bert.module.named_parameters()])
    weights = dict(bert.module.named_parameters())
    correlations = np.empty((len(stages), 2, num_draws))
    for draw in range(num_draws):
        # Begins with all random, and gives the trained weights back from the embeddings up.
        twin = untrained(bert, draw)
        own = dict(twin.module.named_parameters())
        for number in reversed(range(len(stages))):
            shares = attribute_word(twin, trace, *asked, steps=steps).shares
            both = trained.shares[places], shares[places]
            correlations[number, 0, draw] = spearmanr(*both).statistic
            correlations[number, 1, draw] = spearmanr(*map(np.abs, both)).statistic
            with torch.no_grad():
                for name in [*stages.values()][number]:
                    own[name].copy_(weights[name])
            on_fraction((draw + 1 - number / len(stages)) / num_draws)
    first, *others = stages
    named = (first, *(f"+ {name}" for name in others))
    return RandomWeightsCheck(
        trained.word,
        named,
        correlations.mean(-1),
        correlations.min(-1),
        correlations.max(-1),
        num_draws,
        len(places),
    )


def _stages(names: list[str]) -> dict[str, list[str]]:
    """Return the parameters that become random at each step, from the head to the embeddings."""
    numbers = sorted({int(n.split(".")[1]) for n in names if n.startswith("layers.")}, reverse=True)
    starts = {f"layer {number}": f"layers.{number}." for number in numbers}
    starts["embeddings"] = "embeddings."
    stages = {
        stage: [name for name in names if name.startswith(start)] for stage, start in starts.items()
    }
    head = [name for name in names if not name.startswith(tuple(starts.values()))]
    return {"masked-word head": head, **stages}
