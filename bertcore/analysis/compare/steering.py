"""Steer a run: a direction from two lists of words is added to a hidden state of every token."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bertcore.analysis.compare.before_after import check_finite, kl_divergence, next_sentence_of
from bertcore.analysis.compare.task_shift import compare_task, readable_task
from bertcore.analysis.shared.inputs import masked_encoding, word_log_probabilities
from bertcore.model.bert import Bert, with_parts
from bertcore.model.interventions import Changes
from bertcore.model.model import Model
from bertcore.model.network import Network
from bertcore.model.network.task_reader import TaskReader
from bertcore.model.tokenizer import Encoding
from bertcore.model.trace import Trace

MAX_WORDS = 50
"""Words in a list."""
MAX_STRENGTH = 100.0
PLACE = "{}"
"""Where a template has the word."""
NUM_RANDOM = 10
"""Random directions."""
EXAMPLE = (("dry", "empty", "dead"), ("wet", "full", "alive"))
"""Words A and B."""
NEXT = ("B follows A", "random text")


@dataclass(frozen=True, slots=True, eq=False)
class SteeredAnswer:
    """One answer, with C choices that are shown, and S random directions."""

    kind: str
    """"word", "next" or "class"."""
    position: int
    """Of the [MASK]; 0 for the others."""
    choices: tuple[str, ...]
    before: NDArray[np.float64]
    """Probabilities, [C]; of words only the best are shown, so they do not sum to 1."""
    after: NDArray[np.float64]
    """With the direction, [C]."""
    random: NDArray[np.float64]
    """With each random direction, [S, C]."""
    divergence: float
    """KL(before || after) over all choices, in nats."""
    random_divergence: NDArray[np.float64]
    """The same of each random direction, [S]."""

    @property
    def random_p(self) -> NDArray[np.float64]:
        """Mean, lowest and highest of the random directions, [3, C]."""
        return np.stack([self.random.mean(0), self.random.min(0), self.random.max(0)])

    @property
    def random_kl(self) -> tuple[float, float]:
        """Lowest and highest of the random directions."""
        return float(self.random_divergence.min()), float(self.random_divergence.max())


@torch.inference_mode()
def find_direction(
    bert: Model, words_a: Sequence[str], words_b: Sequence[str], state: int, template: str = PLACE
) -> Tensor:
    """Return the mean state of words B minus that of words A, float32 [D].

    Args:
        words_a, words_b: One to MAX_WORDS each. A word's state is the mean over its pieces.
        state: The hidden state, 0 (the embeddings' output) to L.
        template: The text that each word stands in, once, at PLACE; PLACE alone is the word alone,
            between [CLS] and [SEP].

    ValueError if a list is empty or too long, the template has not one PLACE, a word has no piece
    there or is cut off, there is no such state, or both means are the same.
    """
    if template.count(PLACE) != 1:
        raise ValueError(
            f"the template {template[:60]!r} has {template.count(PLACE)} places for the word; "
            f"write {PLACE} once, such as 'This is {PLACE}.'"
        )
    last = bert.config.num_hidden_layers
    if not 0 <= state <= last:
        raise ValueError(f"there is no hidden state {state}; this checkpoint has 0 to {last}.")
    means = []
    for name, words in (("A", words_a), ("B", words_b)):
        if not 1 <= len(words) <= MAX_WORDS:
            raise ValueError(
                f"list {name} has {len(words)} words; expected 1 to {MAX_WORDS}, with commas "
                "between."
            )
        means.append(torch.stack([_state(bert, word, state, template) for word in words]).mean(0))
    direction = means[1] - means[0]
    if not float(direction.norm()) > 0:
        raise ValueError(
            "the two lists have the same mean state, or one that is not a number, so there is no "
            "direction between them. Give other words or another layer."
        )
    return direction


def _state(bert: Model, word: str, state: int, template: str) -> Tensor:
    before, after = template.split(PLACE)
    start, end = len(before), len(before) + len(word)
    trace = bert.trace(before + word + after)
    pieces = [
        i
        for i, ((first, last), text) in enumerate(zip(trace.offsets, trace.text_ids, strict=True))
        if text == 0 and first < end and last > start
    ]
    if not pieces or trace.truncation is not None:
        why = "its text is too long and was cut" if pieces or word.strip() else "it is empty"
        raise ValueError(f"{word[:40]!r} has no vector: {why}. Give another word or template.")
    return trace.hidden_states[state][pieces].float().mean(0)


def random_directions(direction: Tensor, seed: int = 0) -> list[Tensor]:
    """Return NUM_RANDOM directions of the same length, uniform over the sphere."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(NUM_RANDOM, len(direction), generator=generator)
    return list(drawn / drawn.norm(dim=1, keepdim=True) * direction.norm())


def steered(bert: Model, state: int, vector: Tensor) -> Bert:
    """Return a model that adds a vector [D] to a hidden state (0 to L) of every token.

    It shares all weights with the given one, and traces, batches and heads all read what was added.
    ValueError if there is no such state, the vector has another width, or the network's parts
    cannot be read.
    """
    parts = with_parts(bert)
    network, config = parts.module, parts.config
    if not 0 <= state <= config.num_hidden_layers or len(vector) != config.hidden_size:
        raise ValueError(
            f"a vector of {len(vector)} numbers for hidden state {state} does not fit; this "
            f"checkpoint has hidden states 0 to {config.num_hidden_layers}, "
            f"{config.hidden_size} wide."
        )
    shared = {id(each): each for each in chain(network.parameters(), network.buffers())}
    changed: Network = copy.deepcopy(network, dict(shared))

    def behind(module: nn.Module, inputs: object, output: Tensor) -> Tensor:
        return output + vector.to(output)

    if state == 0:
        embeddings = changed.embeddings
        last = embeddings.norm if embeddings.projection is None else embeddings.projection
        last.register_forward_hook(behind)
    else:
        # ALBERT's layers are one object: the vector is added in only one of its passes.
        layer = copy.deepcopy(network.layers[state - 1], dict(shared))
        layer.feed_forward.register_forward_hook(behind)
        changed.layers[state - 1] = layer  # type: ignore[index]  # a ModuleList, typed by its content
    return Bert(changed, parts.tokenizer, name=parts.name)


def steer_by_words(
    bert: Model,
    text_a: str,
    text_b: str | None = None,
    masked: Sequence[int] = (),
    changes: Changes = Changes(),  # noqa: B008  # frozen
    words_a: Sequence[str] = EXAMPLE[0],
    words_b: Sequence[str] = EXAMPLE[1],
    template: str = PLACE,
    state: int | None = None,
    strength: float = 1.0,
    *,
    on_fraction: Callable[[float], None] | None = None,
) -> tuple[SteeredAnswer, ...]:
    """Return the answers to a text with and without the direction from words A to words B.

    `masked` and `changes` are those of all runs.

    Args:
        words_a, words_b, template: As for `find_direction`.
        state: Where it is added, 0 to L; half of L if not given.
        strength: What the direction is multiplied by.

    ValueError if there is nothing to steer; else as `find_direction` and `steer`.
    """
    state = bert.config.num_hidden_layers // 2 if state is None else state
    answers = steer(
        bert,
        masked_encoding(bert, text_a, text_b, masked),
        text_b,
        state,
        find_direction(bert, words_a, words_b, state, template),
        strength,
        changes=changes,
        task=readable_task(bert)[0],
        on_fraction=on_fraction,
    )
    if not answers:
        raise ValueError(
            "there is nothing to steer: hide a word, add a text B, or open a classifier."
        )
    return answers


@torch.inference_mode()
def steer(
    bert: Model,
    encoding: Encoding,
    text_b: str | None,
    state: int,
    direction: Tensor,
    strength: float,
    *,
    changes: Changes | None = None,
    task: TaskReader | None = None,
    top_k: int = 5,
    seed: int = 0,
    on_fraction: Callable[[float], None] | None = None,
) -> tuple[SteeredAnswer, ...]:
    """Return the answers with and without `strength` times a direction, and with random ones.

    Args:
        encoding: The input, with [MASK] where words are read.
        text_b: Text B, or None for a single text, which has no next-sentence answer.
        state: Where it is added, 0 to L: to all tokens, [CLS] and [SEP] too.
        direction: [D], from `find_direction`. The random ones have its length.
        strength: -MAX_STRENGTH to MAX_STRENGTH.
        task: The checkpoint's task head; its classes are read, if it has classes.

    ValueError if an argument is out of range, or states are NaN or infinite.
    """
    if not abs(strength) <= MAX_STRENGTH:
        raise ValueError(f"strength is {strength}; expected {-MAX_STRENGTH} to {MAX_STRENGTH}.")
    if changes is not None and state - 1 in changes.layers_skipped:
        raise ValueError(
            f"layer {state - 1} is skipped, so nothing can be added to hidden state {state}. Run "
            "the layer, or choose another hidden state."
        )
    vectors = [None, *(strength * v for v in (direction, *random_directions(direction, seed)))]
    runs: list[list[tuple[str, int, Tensor]]] = []
    first: Trace | None = None
    for number, vector in enumerate(vectors):
        model = bert if vector is None else steered(bert, state, vector)
        trace = model.trace("", text_b, encoding=encoding, changes=changes)
        check_finite(trace)
        first = first or trace
        runs.append(_answers(bert, trace, first, task))
        if on_fraction is not None:
            on_fraction((number + 1) / len(vectors))
    names = () if task is None else task.labels
    return tuple(
        _steered(bert, kind, position, torch.stack([run[i][2] for run in runs]), top_k, names)
        for i, (kind, position, _) in enumerate(runs[0])
    )


def _answers(
    bert: Model, trace: Trace, first: Trace, task: TaskReader | None
) -> list[tuple[str, int, Tensor]]:
    """Return kind, position and log-probabilities [C] of each answer of a run."""
    found = []
    if "mlm" in bert.capabilities:
        masks = [i for i, each in enumerate(trace.input_ids) if each == bert.tokenizer.mask_id]
        hidden = trace.word_states[masks].to(bert.device)
        rows = [row.cpu() for part in word_log_probabilities(bert, hidden) for row in part]
        found += [("word", place, row) for place, row in zip(masks, rows, strict=True)]
    following = next_sentence_of(bert, trace)
    if following is not None:
        odds = torch.tensor([following.is_next, 1 - following.is_next], dtype=torch.float64)
        found.append(("next", 0, odds.clamp_min(1e-300).log()))
    if task is not None and task.kind == "classes":
        after = torch.from_numpy(compare_task(bert, task, first, trace).after[0])
        found.append(("class", 0, after.double().clamp_min(1e-300).log()))
    return found


def _steered(
    bert: Model, kind: str, position: int, log_p: Tensor, top_k: int, labels: Sequence[str]
) -> SteeredAnswer:
    """Return an answer from its log-probabilities without, with and with random directions."""
    chosen = list(range(log_p.shape[1]))
    if kind == "word":  # rows beyond the vocabulary have no name
        named = log_p[:2, : bert.tokenizer.vocab_size]
        best = named.topk(min(top_k, named.shape[1])).indices.flatten().tolist()
        chosen = list(dict.fromkeys(best))
        choices = tuple(bert.tokenizer.id_to_token(i) for i in chosen)
    else:
        choices = NEXT if kind == "next" else tuple(labels)
    p = log_p[:, chosen].double().exp().numpy()
    moved = kl_divergence(log_p[:1].double(), log_p[1:].double()).numpy()
    return SteeredAnswer(kind, position, choices, p[0], p[1], p[2:], float(moved[0]), moved[1:])
