"""Heads as parsers: how well each head predicts each dependency relation."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.heads.stream import AttentionBatch
from bertcore.data.conllu import ParsedSentence
from bertcore.data.texts import Sentence
from bertcore.model.architecture.config import BertConfig
from bertcore.model.tokenizer import Encoding
from bertcore.training.evaluation.intervals import Interval, wilson_interval

DIRECTIONS = ("to_head", "to_dependent")
"""The dependent looks for its head; the head looks for its dependent."""
MAX_OFFSET = 20
"""Largest fixed offset that the baseline tries: 1 to 20 words before or after."""
ALL = "all"
"""All relations together, except punctuation, whose heads are a matter of convention."""


@dataclass(frozen=True, eq=False)
class SyntaxScores:
    """The accuracy of each head for each relation and direction."""

    pairs: NDArray[np.int64]
    """Sentence, dependent, head (places in its words) and relation of each arc, [P, 4]."""
    names: tuple[str, ...]
    """The relations, R of them."""
    hits: NDArray[np.bool_]
    """Whether the most-attended word was the right one, [P, 2, L, H]; 2 = DIRECTIONS."""
    is_seen: NDArray[np.bool_]
    """False for arcs with a word that has no piece of its own, [P]: these are not cases."""

    @property
    def num_left_out(self) -> int:
        """Number of arcs left out: a word was cut off, or shares its only piece with another."""
        return int((~self.is_seen).sum())

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """Relations that have cases: ALL, then the most frequent first."""
        counts = np.bincount(self.pairs[self.is_seen, 3], minlength=len(self.names))
        order = np.argsort(-counts, kind="stable")
        return (ALL, *(self.names[i] for i in order if counts[i]))

    def cases(self, relation: str, direction: str) -> int:
        """Return the number of cases of a relation; see `accuracy`."""
        return self._num_cases(self._is_case(relation), direction)

    def accuracy(self, relation: str, direction: str) -> Interval:
        """Return each head's accuracy with Wilson intervals, each [L, H].

        A case of "to_head" is a dependent, and its head is right. A case of "to_dependent" is a
        word with dependents of this relation, and any of them is right. ValueError if there is no
        such relation or direction.
        """
        is_case = self._is_case(relation)
        right = self.hits[is_case, DIRECTIONS.index(direction)].sum(0)
        return wilson_interval(right, self._num_cases(is_case, direction))

    def baseline(self, relation: str, direction: str) -> tuple[int, float]:
        """Return the best fixed offset in words, and how often the word there is right."""
        is_case = self._is_case(relation)
        sign = 1 if DIRECTIONS.index(direction) == 0 else -1
        offsets = sign * (self.pairs[is_case, 2] - self.pairs[is_case, 1])
        offsets = offsets[np.abs(offsets) <= MAX_OFFSET]
        counts = np.bincount(offsets + MAX_OFFSET, minlength=2 * MAX_OFFSET + 1)
        best = int(counts.argmax())
        num_cases = self._num_cases(is_case, direction)
        return best - MAX_OFFSET, counts[best] / num_cases if num_cases else float("nan")

    def best(self, relation: str, direction: str) -> tuple[int, int] | None:
        """Return the most accurate head, the first one if tied; None without a case."""
        return self.accuracy(relation, direction).best

    def examples(
        self, relation: str, direction: str, layer: int, head: int
    ) -> list[tuple[int, int, int]]:
        """Return where a head was right: sentence, dependent and head of each arc."""
        is_case = self._is_case(relation)
        right = self.hits[:, DIRECTIONS.index(direction), layer, head] & is_case
        return [(int(s), int(d), int(h)) for s, d, h, _ in self.pairs[right]]

    def _is_case(self, relation: str) -> NDArray[np.bool_]:
        if relation == ALL:
            is_mark = np.array([name.partition(":")[0] == "punct" for name in self.names])
            return np.asarray(self.is_seen & ~is_mark[self.pairs[:, 3]])
        if relation not in self.names:
            raise ValueError(
                f"relation is {relation!r}; these sentences have {', '.join(self.relations)}."
            )
        return np.asarray(self.is_seen & (self.pairs[:, 3] == self.names.index(relation)))

    def _num_cases(self, is_case: NDArray[np.bool_], direction: str) -> int:
        if DIRECTIONS.index(direction) == 0:
            return int(is_case.sum())
        return len(np.unique(self.pairs[is_case][:, [0, 2]], axis=0))


class SyntaxSurvey:
    """Counts how often heads find the arcs of parsed sentences; pass it to `run_surveys`.

    A map over pieces becomes one over words: attention to a split word is summed over its pieces,
    attention from it is averaged. A piece belongs to the word in which it begins. Special tokens
    and the word itself are left out; the most-attended remaining word is the head's answer.

    Source: Clark et al. 2019, sections 4.1 and 4.2; the word itself is left out in their code
        (clarkkev/attention-analysis). Differs: for the direction from the head to its dependents
        they transpose the map and ask which word attends most to the dependent; here the row of the
        head is read, as the paper's text has it. A word such as the "not" of "cannot", in which no
        piece begins, is not a case; they split each word into pieces separately.
    """

    def __init__(self, sentences: Sequence[ParsedSentence], config: BertConfig) -> None:
        self._sentences = sentences
        names: dict[str, int] = {}
        arcs = [
            (number, dependent, head, names.setdefault(relation, len(names)))
            for number, sentence in enumerate(sentences)
            for dependent, (head, relation) in enumerate(
                zip(sentence.heads, sentence.relations, strict=True)
            )
            if head >= 0
        ]
        self._pairs = np.array(arcs, dtype=np.int64).reshape(-1, 4)
        self._names = tuple(names)
        heads = (config.num_hidden_layers, config.num_attention_heads)
        self._hits = np.zeros((len(arcs), len(DIRECTIONS), *heads), dtype=np.bool_)
        self._is_seen = np.zeros(len(arcs), dtype=np.bool_)
        # Arcs of one sentence are adjacent: where they begin.
        self._starts = np.searchsorted(self._pairs[:, 0], np.arange(len(sentences) + 1))

    def add(self, batch: AttentionBatch) -> None:
        sentences = [self._sentences[row] for row in batch.rows]
        num_words = max(len(sentence.words) for sentence in sentences)
        belongs = torch.zeros(*batch.attentions.shape[1::3], num_words)  # [B, T, W]
        for row, (sentence, encoding) in enumerate(zip(sentences, batch.encodings, strict=True)):
            for token, word in enumerate(piece_words(sentence, encoding)):
                if word >= 0:
                    belongs[row, token, word] = 1
        answers = most_attended(batch.attentions, belongs.to(batch.attentions.device))
        attended = answers.cpu().numpy()  # [L, B, H, W]
        has_piece = belongs.any(1).numpy()
        for row, number in enumerate(batch.rows):
            arcs = slice(self._starts[number], self._starts[number + 1])
            dependents, heads = self._pairs[arcs, 1], self._pairs[arcs, 2]
            seen = has_piece[row, dependents] & has_piece[row, heads]
            self._is_seen[arcs] = seen
            ways = ((dependents, heads), (heads, dependents))
            for direction, (sources, right) in enumerate(ways):
                # [L, H, P] -> [P, L, H]
                hits = (attended[:, row][..., sources] == right) & seen
                self._hits[arcs, direction] = hits.transpose(2, 0, 1)

    def result(self) -> SyntaxScores:
        return SyntaxScores(self._pairs, self._names, self._hits, self._is_seen)


def as_inputs(sentences: Sequence[ParsedSentence]) -> tuple[Sentence, ...]:
    """Return the texts of parsed sentences as inputs for BERT."""
    return tuple(Sentence(sentence.text) for sentence in sentences)


def piece_words(sentence: ParsedSentence, encoding: Encoding) -> list[int]:
    """Return for each token the word in which it begins, the first of several; -1 for none."""
    owner = [-1] * (len(sentence.text) + 1)
    for word in reversed(range(len(sentence.words))):
        start, end = sentence.spans[word]
        owner[start:end] = [word] * (end - start)
    return [
        owner[start] if text == 0 else -1
        for (start, _), text in zip(encoding.offsets, encoding.text_ids, strict=True)
    ]


def word_attention(attentions: Tensor, belongs: Tensor) -> Tensor:
    """Return maps over words: summed over the key pieces, averaged over the query pieces.

    Of [L, B, H, T, T], with 1 in `belongs` [B, T, W] where a token is a piece of a word: [L, B, H,
    W, W]; 0 in the rows and columns of words without a piece.
    """
    to = belongs[None, :, None]  # [1, B, 1, T, W]
    num_pieces = belongs.sum(1)[None, :, None, :, None]  # [1, B, 1, W, 1]
    summed = attentions @ to
    return (to.transpose(-1, -2) @ summed) / num_pieces.clamp(min=1)


def most_attended(attentions: Tensor, belongs: Tensor) -> Tensor:
    """Return the word that each word attends to most, itself and special tokens left out.

    int64, [L, B, H, W]; meaningless for words without a piece. The arguments are those of
    `word_attention`.
    """
    weights = word_attention(attentions, belongs)
    nothing = ~belongs.bool().any(1)[:, None, None, :]  # [B, 1, 1, W]
    itself = torch.eye(belongs.shape[-1], dtype=torch.bool, device=belongs.device)
    return weights.masked_fill(nothing | itself, -1.0).argmax(-1)
