"""What is patched and read, as the visitor chose it; and the work that computes it."""

from collections.abc import Callable
from typing import NamedTuple

import torch

from bertcore import Model
from bertcore.analysis.patching import (
    Answer,
    Direction,
    Part,
    Patched,
    PatchPair,
    PathPatched,
    Place,
    class_answer,
    common_masks,
    patch,
    patch_pair,
    patch_path,
    telling_token,
    word_answer,
)
from bertcore.analysis.shared.inputs import one_piece
from bertcore.network.task_reader import TaskReader

from ..shell import cache
from ..task_model.model import readable_task_head
from .versions import Versions


class Asked(NamedTuple):
    """Two versions, and the two logits whose difference is followed; small and hashable."""

    key: cache.BertKey
    first: Versions
    second: Versions
    hide: int | None
    """Token of the first version that is hidden in both; None for the texts as they are."""
    is_class: bool
    """Whether classes of the task head are followed, and not words."""
    name: str
    other: str
    """"": the default of `word_answer` or `class_answer`."""


class Followed(NamedTuple):
    """The names of the two logits."""

    name: str
    other: str | None

    def __str__(self) -> str:
        """Return the difference as it is written."""
        return self.name if self.other is None else f"{self.name} − {self.other}"


def pair_of(asked: Asked) -> PatchPair:
    """Return the aligned versions; ValueError if they cannot be patched; see `patch_pair`."""
    return cache.computed(patch_pair, asked.key, asked.first, asked.second, hide=asked.hide)


def masks(asked: Asked) -> list[int]:
    """Return the columns that have a mask in both versions."""
    return common_masks(cache.opened(asked.key), pair_of(asked))


def followed(asked: Asked) -> Followed:
    """Return the names of the logits, the defaults if none were given.

    ValueError as `word_answer` and `class_answer`.
    """
    return cache.computed(_followed, asked)


def patched(
    asked: Asked, part: Part, direction: Direction, *, on_fraction: Callable[[float], None]
) -> Patched:
    """Return the runs with every place patched."""
    model, pair = cache.opened(asked.key), pair_of(asked)
    answer = _answer(model, asked, pair)
    return patch(model, pair, answer, part, direction, on_fraction=on_fraction)


def reader_of(key: cache.BertKey) -> TaskReader | None:
    """Return the task head whose classes can be followed, or None."""
    reader = readable_task_head(key)
    return reader if reader is not None and reader.kind in ("classes", "labels", "score") else None


def place_to_hide(model: Model, first: Versions, second: Versions) -> int | None:
    """Return the token at which the predictions of the versions differ most."""
    return telling_token(model, patch_pair(model, first, second))


def _answer(model: Model, asked: Asked, pair: PatchPair) -> Answer:
    if asked.is_class:
        reader = reader_of(asked.key)
        assert reader is not None  # the page offers classes only then
        return class_answer(model, reader, pair, asked.name or None, asked.other or None)
    words = (_piece(model, word) for word in (asked.name, asked.other))
    return word_answer(model, pair, *words)


def _piece(model: Model, word: str) -> str | None:
    """Return the piece that a typed word is; None if blank.

    ValueError if the vocabulary has no pieces for it.
    """
    unknown, piece = model.tokenizer.unk_token, one_piece(model, word)
    if piece == unknown and word != unknown:
        raise ValueError(
            f"{word!r} is unknown to this vocabulary, so it has no logit. Choose another word."
        )
    return piece


def _followed(asked: Asked) -> Followed:
    answer = _answer(cache.opened(asked.key), asked, pair_of(asked))
    return Followed(answer.name, answer.other)


@torch.no_grad()
def path(asked: Asked, sender: Place, receiver: Place, direction: Direction) -> PathPatched:
    """Return the result of one path; ValueError as `patch_path`."""
    model, pair = cache.opened(asked.key), pair_of(asked)
    return patch_path(model, pair, _answer(model, asked, pair), sender, receiver, direction)
