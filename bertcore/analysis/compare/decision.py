"""The questions that a checkpoint can answer, and its answers layer by layer.

A decision contains only the head, so it can read any layer, and the encoder of another checkpoint
of the same width. But a head was trained on the last hidden state only: its answer on an earlier
one shows how close that state already is to the final answer in the head's own terms, not what the
layer "thinks".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.compare.before_after import check_finite
from bertcore.model.model import Model
from bertcore.model.trace import Trace

KINDS = {
    "class": "class of the text",
    "labels": "each label, yes or no",
    "score": "score of the text",
    "tag": "tag of each token",
    "span": "start and end of the answer",
    "next": "does B follow A",
    "word": "word at the [MASK]",
}
"""The kinds of decision, and the question of each."""
NEXT_LABELS = ("B follows A", "B is a random text")
NO_YES = ("no", "yes")
"""The answers at each place of "labels"."""
MAX_MASKS = 16
"""Maximum number of masks read; 16 of them at 13 layers and 30,522 pieces take 25 MB."""

_Head = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """One question, and the head that answers it."""

    kind: str
    """A key of KINDS."""
    labels: tuple[str, ...]
    """Names of the classes or tags, the labels that are decided on, or the pieces of the
    vocabulary; () for "score" and "span"."""
    owner: str
    """The checkpoint from which the head comes."""
    width: int
    """D of the hidden states that it reads."""
    head: _Head
    """Maps hidden states [..., T, D] on the head's device to logits: [..., C] for a text, [..., T,
    C] for its tokens."""
    read_early: _Head
    """Maps hidden states [L+1, T, D] to those that the head reads at each layer, of the same shape.
    """
    mask_id: int = -1
    """For "word": the id of [MASK]."""

    def places(self, trace: Trace) -> list[int]:
        """Return the tokens that are decided on, [P]; -1 for the text as a whole.

        For "span" the first place is the start and the second the end; "labels" has a place for
        each label.
        """
        if self.kind == "tag":
            return list(range(trace.num_tokens))
        if self.kind == "word":
            masks = [i for i, token_id in enumerate(trace.input_ids) if token_id == self.mask_id]
            return masks[:MAX_MASKS]
        if self.kind == "labels":
            return [-1] * len(self.labels)
        return [-1, -1] if self.kind == "span" else [-1]

    def logits(self, hidden: Tensor, trace: Trace) -> Tensor:
        """Return the logits of every place, [..., P, C], of hidden states [..., T, D].

        C is the number of labels, 1 for a score, T for a span, 2 (no, yes) for each of "labels".
        For a span in a pair, the tokens that cannot contain the answer (those before text B) have
        -inf, as in the official SQuAD script.

        ValueError if the width of the hidden states is not that of the head.
        """
        if hidden.shape[-1] != self.width:
            raise ValueError(
                f"the head of {self.owner} reads vectors of {self.width} numbers, but these have "
                f"{hidden.shape[-1]}. It can only read an encoder of its own width."
            )
        if self.kind == "word":
            return self.head(hidden[..., self.places(trace), :])
        if self.kind == "tag":
            return self.head(hidden)
        if self.kind == "labels":  # the softmax of 0 and z is the sigmoid of z
            yes = self.head(hidden)
            return torch.stack([torch.zeros_like(yes), yes], dim=-1)
        if self.kind != "span":
            return self.head(hidden)[..., None, :]
        logits = self.head(hidden).transpose(-1, -2)
        if trace.text_b is None:
            return logits
        outside = torch.tensor([text != 1 for text in trace.text_ids], device=logits.device)
        return logits.masked_fill(outside, -torch.inf)

    def names(self, trace: Trace) -> Sequence[str]:
        """Return the names of the C answers: labels, pieces, or the tokens of a span.

        The number after a token distinguishes it from equal ones.
        """
        if self.kind == "span":
            return [f"{token} ({place})" for place, token in enumerate(trace.tokens)]
        return {"score": ("score",), "labels": NO_YES}.get(self.kind, self.labels)

    def applies_to(self, trace: Trace) -> bool:
        """Return whether this input poses the question: a pair, or a text with [MASK]."""
        if self.kind == "next":
            return trace.text_b is not None
        return self.kind != "word" or bool(self.places(trace))


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """The decisions of one checkpoint, and why it has none from a task head."""

    available: tuple[Decision, ...]
    """The task head's first, then the pretraining heads'."""
    no_task: str = ""
    """Why there is no decision from a task head, as a sentence; "" if there is one."""

    def of(self, kind: str) -> Decision | None:
        """Return the decision of a kind, or None."""
        return next((decision for decision in self.available if decision.kind == kind), None)


def open_decisions(bert: Model, source: str | Path | None = None) -> Decisions:
    """Return the decisions of a checkpoint, by its pooler and pretraining heads.

    Its task head is read from `source`, by default from where it was opened.
    """
    if source is None and bert.report is None:
        reason = "a network that was not opened from files has no task head."
        return Decisions(pretraining_decisions(bert), reason)
    task, reason = _task_decision(bert, source or bert.name)
    return Decisions((*task, *pretraining_decisions(bert)), reason)


def pretraining_decisions(bert: Model) -> tuple[Decision, ...]:
    """Return the next-sentence and masked-word decisions for which a checkpoint has heads.

    None for another architecture: its heads read other states than the last hidden one.
    """
    if "parts" not in bert.capabilities:
        return ()
    module, width = bert.module, bert.config.hidden_size
    early = module.read_early
    decisions = []
    if "nsp" in bert.capabilities:
        head = module.nsp_logits
        decisions.append(Decision("next", NEXT_LABELS, bert.name, width, head, early))
    if "mlm" in bert.capabilities:
        count = bert.tokenizer.vocab_size
        pieces = tuple(bert.tokenizer.id_to_token(i) for i in range(count))

        def words(hidden: Tensor) -> Tensor:
            # Rows beyond the tokenizer's vocabulary (a padded table) have no name.
            return module.mlm_logits(hidden)[..., :count]

        mask_id = bert.tokenizer.mask_id
        decisions.append(Decision("word", pieces, bert.name, width, words, early, mask_id))
    return tuple(decisions)


def _task_decision(bert: Model, source: str | Path) -> tuple[tuple[Decision, ...], str]:
    from bertcore.training.tasks.model import open_task_model

    try:
        model = open_task_model(source, bert=bert)
    except (ValueError, RuntimeError, OSError) as error:
        return (), " ".join(str(error).split())
    task = model.task
    if task.decision is None:
        reason = f"the task head of {str(source)!r} reads {task.why_no_decision}"
        return (), f"{reason}, so it is not compared here."
    module = model.module
    for tensor in module.head_tensors().values():
        tensor.requires_grad = False
    width = bert.config.hidden_size
    early = bert.module.read_early
    head = module.logits_of
    return (Decision(task.decision, model.labels, bert.name, width, head, early),), ""


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


@torch.no_grad()
def layer_decisions(decision: Decision, trace: Trace, device: torch.device) -> LayerDecisions:
    """Read a decision from every hidden state of a run.

    The last row is the model's own answer, with the same numbers as in `transformers`.

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
