"""The tasks: what each reads, which head it has, and by which number it is judged."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Task:
    """One kind of fine-tuning."""

    name: str
    """As `bertscope finetune --task` takes it."""
    kind: str
    """Kind of head, of HEAD_KINDS."""
    architecture: str
    """The class of `transformers` that opens the result."""
    key: str
    """Name of the head's tensors in files: `classifier` or `qa_outputs`."""
    metrics: tuple[str, ...]
    """What a run may be judged by; the first unless told otherwise. Higher is better."""

    @property
    def has_labels(self) -> bool:
        """Whether the answers are a fixed list of labels."""
        return self.name in ("classify", "pair", "tag")


_SEQUENCE = ("sequence", "BertForSequenceClassification", "classifier")
_CLASSES = ("accuracy", "f1", "matthews", "macro_f1")

TASKS = {
    "classify": Task("classify", *_SEQUENCE, _CLASSES),
    "pair": Task("pair", *_SEQUENCE, _CLASSES),
    "regress": Task("regress", *_SEQUENCE, ("pearson_spearman", "pearson", "spearman")),
    "tag": Task("tag", "token", "BertForTokenClassification", "classifier", ("f1", "accuracy")),
    "qa": Task("qa", "span", "BertForQuestionAnswering", "qa_outputs", ("f1", "exact_match")),
    "choice": Task("choice", "choice", "BertForMultipleChoice", "classifier", ("accuracy",)),
}

FEATURE_TAG = replace(TASKS["tag"], kind="features", architecture="BertModel")
"""Tagging by a BiLSTM over the last four layers: `transformers` opens the encoder alone."""


def find_task(name: str, *, feature_based: bool = False) -> Task:
    """Return the task of that name.

    Raises:
        ValueError: If there is none, or it has no feature-based form.
    """
    if name not in TASKS:
        raise ValueError(f"task is {name!r}; expected one of {', '.join(TASKS)}.")
    if feature_based and name != "tag":
        raise ValueError(f"feature-based training is for the task 'tag', not {name!r}.")
    if feature_based:
        return FEATURE_TAG
    return TASKS[name]
