"""What the page "How tokens mix" computes: each measure as rows of fractions, kept in memory.

Rows are the tokens that receive, columns those that give; every row is divided by its sum, so
that measures in different units can be compared.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore import Model
from bertcore.analysis.mixing.attention_gradients import (
    NextSentenceLogit,
    Target,
    attention_gradients,
    best_word,
)
from bertcore.analysis.mixing.flow import (
    MOST_WORK,
    attention_flow,
    attention_rollout,
    flow_work,
    one_map_a_layer,
    rollout,
)
from bertcore.analysis.mixing.maps import fraction_on, normalize_rows
from bertcore.analysis.mixing.norm_weighted import BlockNorms, block_norms, passed_norms
from bertcore.analysis.mixing.value_zeroing import value_zeroing
from bertcore.analysis.shared.inputs import require_finite

from ..shell import Texts, Work, background, cache, waiting

Array = NDArray[np.float32]


class SeparatorFractions(NamedTuple):
    """The fraction of [SEP] in what tokens receive, by layer, and how much they mix at all."""

    weights: NDArray[np.float32]
    """By the attention weights, [L, H]."""
    norms: NDArray[np.float32]
    """By the norms of the weighted vectors, [L, H]."""
    block: NDArray[np.float32]
    """With residual connection and, if one follows, LayerNorm; all heads together, [L]."""
    mixing_ratio: NDArray[np.float32]
    """Mean over the tokens, [L]."""


def layer_maps(bert: Model, texts: Texts, layer: int, head: int | None) -> dict[str, Array]:
    """Return weights, norms, and norms with residual (see `block_norms`) of a layer, each [T, T].

    Only the weights if the architecture does not show its parts.
    """
    trace = texts.trace
    if "parts" not in bert.capabilities:
        return {"weights": fractions(one_map_a_layer(trace.attentions, head)[layer])}
    block = cache.call(blocks, texts.key, texts)
    if head is None:
        norms = block.summed[layer]
    else:
        norms = trace.attentions[layer, head].float() * passed_norms(bert, trace)[layer, head]
    weights = one_map_a_layer(trace.attentions[layer : layer + 1], head)[0]
    maps = {"weights": weights, "norms": norms, "block": block.normalized[layer]}
    return {name: fractions(values) for name, values in maps.items()}


def blocks(bert: Model, texts: Texts) -> BlockNorms:
    """Return how tokens mix in each attention block."""
    return block_norms(bert, texts.trace)


def rollouts(bert: Model, texts: Texts, head: int | None) -> Array:
    """Return the rollout from every layer, [L, T, T]."""
    maps: Array = attention_rollout(texts.trace.attentions, head=head).numpy()
    return maps


def zeroing_row(bert: Model, texts: Texts, token: int) -> Array:
    """Return one row of value zeroing in every layer, [L, T]."""
    return fractions(value_zeroing(bert, texts.trace, tokens=[token])[:, 0])


def gradient(bert: Model, texts: Texts, token: int | None, head: int | None) -> Array:
    """Return |gradient x weight| of all layers as fractions, [L, T, T].

    Args:
        token: Where the predicted word's logit is read; None for the next-sentence logit.
    """
    trace = texts.trace
    target: Target = NextSentenceLogit() if token is None else best_word(bert, trace, token)
    gradients = attention_gradients(bert, trace, target)
    require_finite(gradients.gradients, "gradients")
    # One layer at a time: of 144 heads at 512 tokens the product is 151 MB.
    sizes = (gradients.product(layer).float().abs() for layer in range(len(gradients.weights)))
    return fractions(torch.stack([maps.mean(0) if head is None else maps[head] for maps in sizes]))


def separator_fractions(bert: Model, texts: Texts) -> SeparatorFractions:
    """Return how much comes from the added [SEP], the second one of a pair included."""
    trace = texts.trace
    separators = [i for i, text in enumerate(trace.text_ids) if text < 0][1:]
    fraction_of: Callable[[Tensor], Tensor] = partial(fraction_on, columns=separators)
    block = cache.call(blocks, texts.key, texts)
    passed = passed_norms(bert, trace)[:, :, None]
    layers = trace.attentions
    # One layer at a time: both would be as large as the weights of all layers.
    return SeparatorFractions(
        weights=torch.stack([fraction_of(layer.float()) for layer in layers]).numpy(),
        norms=torch.stack(
            [fraction_of(a * p) for a, p in zip(layers, passed, strict=True)]
        ).numpy(),
        block=fraction_of(block.normalized).numpy(),
        mixing_ratio=block.mixing_ratio.mean(-1).numpy(),
    )


def fractions(values: Tensor) -> Array:
    """Return numbers >= 0 with each row divided by its sum."""
    rows: Array = normalize_rows(values.float()).numpy()
    return rows


IN_LAYER = ("weights", "norms", "block", "zeroing", "gradient")  # measures of one layer
THROUGH_LAYERS = ("rollout", "flow", "zeroing_rollout")
"""Measures from a layer's output down to the input."""
ATTENTION_ALONE = ("weights", "rollout", "flow")
"""Measures of the attention weights alone; the others need the inside of the layers."""
MOMENT = 0.7  # seconds to wait for a job before the page is drawn without it
MOST_MAPPED = 512  # most tokens of a whole map: eight such maps are 14 MB to the browser
AT_ONCE = 5.0  # estimated seconds up to which a measure is computed at once
FLOW_RATE, ZEROING_RATE = 1.4e7, 6e10
"""Edges of flows, and multiplications and additions of value zeroing, in a second of one core."""


class Choice(NamedTuple):
    """Which measures are drawn, and of what."""

    layer: int
    head: int | None
    """One head of each layer, or None for all."""
    token: int
    """The token that receives: the row, and where a word is predicted."""
    target: str | None
    """What the gradient is of: "word", "next" (next sentence), or None if there is no head."""


@dataclass(slots=True)
class MixingMaps:
    """The maps that are computed so far."""

    maps: dict[str, Array]
    """By measure, in order, [R, T]: the chosen row (R = 1) or all."""
    waiting: dict[str, Work]
    """Measures that are not computed yet, and their work; two may wait for one job."""
    offered: dict[str, float] = field(default_factory=dict)
    """Slower measures that the visitor has not requested, with their estimated seconds."""


def measures(bert: Model) -> tuple[str, ...]:
    """Return the measures that the checkpoint's architecture can have, in order."""
    if "parts" not in bert.capabilities:
        return ATTENTION_ALONE
    return (*IN_LAYER, *THROUGH_LAYERS)


def targets(bert: Model, text_b: str | None) -> list[str]:
    """Return what a gradient can be taken of, the first being the usual one."""
    if "gradient" not in measures(bert):
        return []
    heads = {"word": "mlm" in bert.capabilities, "next": "nsp" in bert.capabilities}
    heads["next"] &= text_b is not None
    return [name for name, is_there in heads.items() if is_there]


def one_token(texts: Texts, choice: Choice, *, slow: bool = False) -> MixingMaps:
    """Return every measure's row of the chosen token.

    Args:
        slow: Also compute measures that take longer than AT_ONCE; else they are offered.
    """
    row = slice(choice.token, choice.token + 1)
    mixing = _at_once(texts, choice, row)
    if "zeroing" in measures(cache.opened(texts.key)):
        zeroing = cache.call(zeroing_row, texts.key, texts, choice.token)
        mixing.maps["zeroing"] = zeroing[choice.layer][None]
    to_compute = _choose_measures(mixing, texts, choice, 1, slow=slow)
    if "flow" in to_compute:
        _take(mixing, "flow", _flow_work(texts, choice, choice.token), lambda flow: flow)
    if "zeroing_rollout" in to_compute:
        work = _zeroing_work(texts)
        _take(mixing, "zeroing_rollout", work, lambda maps: maps[1][choice.layer, row])
    return _in_order(mixing)


def every_token(texts: Texts, choice: Choice, *, slow: bool = False) -> MixingMaps:
    """Return every measure's whole map, [T, T]; see `one_token`.

    ValueError if there are more than MOST_MAPPED tokens.
    """
    num_tokens = texts.trace.num_tokens
    if num_tokens > MOST_MAPPED:
        raise ValueError(
            f"the maps of all tokens are drawn for at most {MOST_MAPPED} tokens; this input has "
            f"{num_tokens}. Choose one token, or use a shorter text."
        )
    mixing = _at_once(texts, choice, slice(None))
    to_compute = _choose_measures(mixing, texts, choice, num_tokens, slow=slow)
    if "zeroing" in to_compute:
        zeroing = _zeroing_work(texts)
        _take(mixing, "zeroing", zeroing, lambda maps: maps[0][choice.layer])
        _take(mixing, "zeroing_rollout", zeroing, lambda maps: maps[1][choice.layer])
    if "flow" in to_compute:
        _take(mixing, "flow", _flow_work(texts, choice, None), lambda flow: flow)
    return _in_order(mixing)


def seconds_of(texts: Texts, choice: Choice, num_rows: int) -> dict[str, float]:
    """Return the estimated seconds of the measures that are not computed at once, by name.

    Args:
        num_rows: 1 for one token, else all T. Flow beyond MOST_WORK is left out.
    """
    bert, num_tokens = cache.opened(texts.key), texts.trace.num_tokens
    config, known = bert.config, measures(bert)
    work = flow_work(choice.layer + 1, num_tokens, num_rows)
    wide, inner = config.hidden_size, config.intermediate_size
    each = 2 * wide * (2 * inner + wide)  # for one vector through the rest of a layer
    zeroing = config.num_hidden_layers * num_tokens**2 * each / ZEROING_RATE
    seconds = {}
    if "zeroing" in known:
        seconds = {"zeroing": zeroing} if num_rows > 1 else {}
        seconds["zeroing_rollout"] = zeroing
    if work <= MOST_WORK:
        seconds["flow"] = work / FLOW_RATE
    return seconds


def slow_measures(texts: Texts, choice: Choice, num_rows: int) -> dict[str, float]:
    """Return the measures that are computed only on request, and their estimated seconds."""
    known = seconds_of(texts, choice, num_rows)
    return {name: seconds for name, seconds in known.items() if seconds > AT_ONCE}


def job_keys(texts: Texts, choice: Choice, view: str) -> set[Hashable]:
    """Return the names of the jobs that a choice may wait for.

    Args:
        view: "all" or "token".
    """
    token = None if view == "all" else choice.token
    return {("flow", _flow_key(texts, choice, token)), ("zeroing", texts)}


def stop(keys: Iterable[Hashable]) -> None:
    """Abandon jobs that no other visitor waits for, so that the next one begins sooner."""
    for key in keys:
        waiting.leave(key)


def _choose_measures(
    mixing: MixingMaps, texts: Texts, choice: Choice, num_rows: int, *, slow: bool
) -> set[str]:
    """Return the measures to compute; the others are offered."""
    known = seconds_of(texts, choice, num_rows)
    if not slow:
        mixing.offered = slow_measures(texts, choice, num_rows)
    return set(known) - set(mixing.offered)


def _at_once(texts: Texts, choice: Choice, rows: slice) -> MixingMaps:
    """Return the measures that take no time."""
    layer, head = choice.layer, choice.head
    of_layer = cache.call(layer_maps, texts.key, texts, layer, head)
    maps = {name: values[rows] for name, values in of_layer.items()}
    maps["rollout"] = cache.call(rollouts, texts.key, texts, head)[layer, rows]
    if choice.target is not None:
        token = choice.token if choice.target == "word" else None
        maps["gradient"] = cache.call(gradient, texts.key, texts, token, head)[layer, rows]
    return MixingMaps(maps, {})


def _take(mixing: MixingMaps, name: str, work: Work, part: Callable[..., Array]) -> None:
    """Put the drawn part of a job's result into `mixing`, or note that it is awaited."""
    job = None if waiting.is_stopped(work.key) else waiting.wait(work, MOMENT)
    if job is None or not job.done:
        mixing.waiting[name] = work
    elif job.error is not None:
        raise job.error
    else:
        mixing.maps[name] = part(job.result)


def _in_order(mixing: MixingMaps) -> MixingMaps:
    names = (*IN_LAYER, *THROUGH_LAYERS)
    maps = {n: mixing.maps[n] for n in names if n in mixing.maps}
    return MixingMaps(maps, mixing.waiting, mixing.offered)


def _flow_work(texts: Texts, choice: Choice, token: int | None) -> Work:
    """Return the work on the flow to one token, [1, T], or to all, [T, T]."""

    def work(progress: background.Progress) -> Array:
        flow = attention_flow(
            texts.trace.attentions[: choice.layer + 1],
            head=choice.head,
            tokens=None if token is None else [token],
            progress=lambda fraction: progress(fraction, "Attention flow"),
        )
        return fractions(flow.values)

    return Work(("flow", _flow_key(texts, choice, token)), work)


def _flow_key(texts: Texts, choice: Choice, token: int | None) -> Hashable:
    return (texts, choice.layer, choice.head, token)


def _zeroing_work(texts: Texts) -> Work:
    """Return the work on value zeroing and its rollout, each [L, T, T]."""

    def work(progress: background.Progress) -> tuple[Array, Array]:
        bert = cache.opened(texts.key)
        scores = normalize_rows(
            value_zeroing(
                bert, texts.trace, progress=lambda fraction: progress(fraction, "Value zeroing")
            )
        )
        return scores.numpy(), rollout(scores).numpy()

    return Work(("zeroing", texts), work)


def without_itself(maps: dict[str, Array], tokens: Sequence[int]) -> dict[str, Array]:
    """Return the rows without the receiving token's own fraction, the rest scaled to sum to 1.

    Args:
        maps: By measure, [R, T].
        tokens: The token of each row, [R].
    """
    remaining = {}
    for name, values in maps.items():
        others = values.copy()
        others[np.arange(len(tokens)), list(tokens)] = 0
        remaining[name] = fractions(torch.from_numpy(others))
    return remaining


def other_tokens(values: Array, tokens: Sequence[int]) -> Array:
    """Return rows [R, T] without the column of each row's own token, [R, T-1].

    Args:
        values: [R, T].
        tokens: The token of each row, [R].
    """
    num_rows, num_tokens = values.shape
    is_other = np.arange(num_tokens) != np.array(tokens)[:, None]
    others: Array = values[is_other].reshape(num_rows, num_tokens - 1)
    return others
