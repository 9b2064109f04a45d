"""What a change does to a text's answers: two runs of the same tokens, and the task head's too."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.compare.before_after import BeforeAfter, compare_runs
from bertcore.analysis.compare.task_shift import TaskShift, compare_task, readable_task
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.model.interventions import Changes
from bertcore.model.model import Model


@dataclass(frozen=True, slots=True)
class EffectOfChanges:
    """What changes do to a text."""

    tokens: tuple[str, ...]
    """With what was hidden, [T]."""
    mask: str
    """The checkpoint's mask token."""
    originals: tuple[tuple[int, str], ...]
    """Position and token of what was hidden."""
    silent: NDArray[np.bool_]
    """Whether each head is off or in a skipped layer, [L, H]."""
    runs: BeforeAfter
    task: TaskShift | None
    """None if the checkpoint has no task head that can be read."""
    task_problem: str
    """Why its task head cannot be read, or has nothing to answer; empty if it can, or there is
    none."""


def what_if(
    bert: Model,
    text_a: str,
    text_b: str | None = None,
    masked: Sequence[int] = (),
    changes: Changes = Changes(),  # noqa: B008  # frozen
    top_k: int = 5,
) -> EffectOfChanges:
    """Run a text with and without changes, and compare the answers.

    `masked` are positions that are replaced by [MASK] in both runs; `changes`: heads or layers off,
    another attention pattern, edited ids or weights.

    ValueError if the changes are not possible, a position does not exist, or the weights hold NaN.
    """
    encoding = masked_encoding(bert, text_a, text_b, masked)
    before = bert.trace(text_a, text_b, encoding=encoding)
    after = bert.trace(text_a, text_b, encoding=encoding, changes=changes) if changes else before
    runs = compare_runs(bert, before, after, top_k)
    reader, problem = readable_task(bert)
    task = None if reader is None else compare_task(bert, reader, before, after)
    if task is not None and not task.names:
        task, problem = None, "there is no word to tag. Write at least one."
    silent = np.zeros((bert.config.num_hidden_layers, bert.config.num_attention_heads), bool)
    for head in changes.silent_heads(bert.config):
        silent[head] = True
    tokens = bert.tokenize(text_a, text_b).tokens
    return EffectOfChanges(
        tokens=tuple(before.tokens),
        mask=bert.tokenizer.mask_token or "",
        originals=tuple((position, tokens[position]) for position in masked),
        silent=silent,
        runs=runs,
        task=task,
        task_problem=problem,
    )
