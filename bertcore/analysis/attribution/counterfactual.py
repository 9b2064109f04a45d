"""Counterfactuals: the fewest word swaps, proposed by a masked-word head, that change an answer."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from bertcore.analysis.attribution.task_input import occlusion, run_task, task_input, whole
from bertcore.analysis.shared.inputs import run_rows, word_log_probabilities
from bertcore.likelihood import Row
from bertcore.loading import load
from bertcore.model import Model
from bertcore.tasks import ChoiceInput, Goal, TaskAnswer, TaskInput
from bertcore.tasks.model import TaskModel
from bertcore.tokenizer import WORD_MARKS


def answer(model: TaskModel, source: TaskInput, *, num_spans: int = 5) -> TaskAnswer:
    """Return the task's answer to an input.

    Args:
        source: For "qa", the question with its text as the second one; for "choice", with the
            choices.
        num_spans: For "qa": maximum number of answers to return.

    ValueError if "qa" has no text to search, or "choice" has nothing to choose from.
    """
    model.task.check_input(source)
    (logits,) = run_task(model, [whole(source)])
    return model.task.answer(source, logits, model.labels, num_spans=num_spans)


MAX_FORWARDS = 1500
"""Maximum number of inputs run, over both networks."""
BEAM_WIDTH = 4
MAX_CHANGES = 4
NUM_PROPOSALS = 15
_WORDS_TRIED = 6  # number of words tried for each text in the beam, the most important first


@dataclass(frozen=True, slots=True)
class Swap:
    """One word replaced by another."""

    word: int
    """Index into `TaskInput.words`."""
    before: str
    after: str
    probability: float
    """Probability of the new word by the masked-word head, given the texts before this swap."""


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A text with another answer."""

    text: str
    text_pair: str | None
    swaps: tuple[Swap, ...]
    """The swaps in the order in which they were made."""
    answer: TaskAnswer
    measure: float
    """The remaining probability (or score) of the first answer."""

    @property
    def log_probability(self) -> float:
        """Sum of the swaps' natural log-probabilities: high for a likely text."""
        return math.fsum(math.log(max(swap.probability, 1e-12)) for swap in self.swaps)


@dataclass(frozen=True, slots=True)
class Search:
    """The result of a search for another answer."""

    counterfactuals: tuple[Counterfactual, ...]
    """Texts with the fewest swaps, the most probable first; () if there is none."""
    closest: Counterfactual | None
    """The text in which the first answer lost most, if none was found; None if nothing could be
    swapped."""
    forwards: int
    """Number of inputs run."""
    is_cut: bool
    """Whether the limit on forward passes ended the search."""


OnFraction = Callable[[float], None]


class _Cut(Exception):  # noqa: N818 - no error: the limit is reached
    pass


@dataclass(slots=True)
class _Budget:
    limit: int
    on_fraction: OnFraction
    used: int = 0

    def take(self, number: int) -> None:
        if self.used + number > self.limit:
            raise _Cut
        self.used += number
        self.on_fraction(self.used / self.limit)


@dataclass(frozen=True, slots=True)
class _State:
    """An intermediate text: its input and the swaps so far."""

    source: TaskInput
    swaps: tuple[Swap, ...]
    value: float


def find_counterfactuals(
    model: TaskModel,
    text: str,
    text_pair: str | None = None,
    *,
    proposer: Model | None = None,
    choices: Sequence[str] = (),
    word: int | None = None,
    label: int | None = None,
    score_change: float = 1.0,
    max_changes: int = MAX_CHANGES,
    max_forwards: int = MAX_FORWARDS,
    on_fraction: OnFraction = lambda fraction: None,
) -> Search:
    """Swap words for proposals of a masked-word head until the answer changes.

    Greedy first: words in order of occlusion importance, each swapped for the proposal that lowers
    the answer most. If that takes more than one swap, a beam search looks for fewer.

    Args:
        model: The model whose answer is to change: a label; the yes or no of `label`, if a text may
            have several; the tag of `word`; the answer in the text, whose own words are not
            swapped; the best of several choices, whose words are not swapped either; the score of a
            regression, by `score_change`.
        proposer: A model with a masked-word head; None opens "default". If its vocabulary differs,
            it reads the text in its own pieces, and its proposals are split into the model's.
        word: For "tag": position of the word, which is not swapped itself.
        label: For "multilabel": index into the model's labels; None takes the most probable one.
        score_change: For "regress", in the score's units.
        max_changes: Maximum number of swaps, at least 1.
        max_forwards: Maximum number of inputs to run.
        on_fraction: Called with the used fraction of `max_forwards`.

    ValueError if the proposer has no masked-word head, a tagger gets no word, or the answer is NaN.

    Source: ours, after Ross et al. 2021 (MiCE: importance, then a beam over infills) and Li et al.
        2020 (BERT-Attack: proposals of the masked-word head). One piece replaces a whole word.
    """
    proposer = load("default") if proposer is None else proposer
    proposer.require("mlm")
    source = task_input(model, text, text_pair, choices=choices)
    given = answer(model, source)
    goal = given.goal(source, word=word, label=label, score_change=score_change)
    budget = _Budget(max_forwards, on_fraction)
    search = _Searching(model, proposer, goal, budget)
    is_cut = False
    try:
        order = search.order(source)
        start = _State(source, (), 0.0)
        search.greedy(start, order[:max_changes])
        if len(order) and (not search.counterfactuals or len(search.counterfactuals[0].swaps) > 1):
            search.beam(start, max_changes)
    except _Cut:
        is_cut = True
    fewest = min((len(other.swaps) for other in search.counterfactuals), default=0)
    counterfactuals = sorted(
        {(other.text, other.text_pair): other for other in search.counterfactuals}.values(),
        key=lambda other: -other.log_probability,
    )
    return Search(
        tuple(other for other in counterfactuals if len(other.swaps) == fewest),
        None if counterfactuals else search.closest,
        budget.used,
        is_cut,
    )


class _Searching:
    """The state of a search: its budget and its results."""

    def __init__(self, model: TaskModel, proposer: Model, goal: Goal, budget: _Budget) -> None:
        self.model, self.proposer, self.goal, self.budget = model, proposer, goal, budget
        self.counterfactuals: list[Counterfactual] = []
        self.closest: Counterfactual | None = None
        self._most_progress = -math.inf
        self._seen: set[tuple[str, str | None]] = set()
        """Texts already seen by this search."""
        self._logits: dict[tuple[str, str | None], Tensor] = {}
        """Logits of every text run by either search."""

    def order(self, source: TaskInput) -> list[int]:
        """Return the words that may be swapped, the most important for the answer first."""
        self.budget.take(1 + len(source.text_words))
        importance = occlusion(self.model, source, self.goal.target(source)).importance
        importance = self.goal.rank(importance)
        allowed = [w for w in source.text_words if w not in self.goal.fixed]
        # Only words of letters or digits: no word can replace a full stop.
        allowed = [w for w in allowed if any(c.isalnum() for c in source.words[w].text)]
        return sorted(allowed, key=lambda w: -float(importance[w]))

    def greedy(self, state: _State, order: Sequence[int]) -> None:
        """Swap one word after the other, each for what lowers the answer most."""
        for word in order:
            tried = self.expand(state, [word])
            if self.counterfactuals:
                return
            if tried:
                state = max(tried, key=lambda next_state: next_state.value)

    def beam(self, start: _State, max_changes: int) -> None:
        """Keep the texts whose answer has lost most, and swap a further word in each."""
        self._seen = set()  # what greedy tried is where a shorter way may begin
        states = [start]
        fewest = min((len(other.swaps) for other in self.counterfactuals), default=max_changes + 1)
        for depth in range(1, max_changes + 1):
            if depth >= fewest:
                return
            tried: list[_State] = []
            for state in states:
                swapped = {swap.word for swap in state.swaps}
                words = [w for w in self.order(state.source) if w not in swapped]
                tried += self.expand(state, words[:_WORDS_TRIED])
            if any(len(other.swaps) == depth for other in self.counterfactuals):
                return
            states = sorted(tried, key=lambda state: -state.value)[:BEAM_WIDTH]
            if not states:
                return

    def expand(self, state: _State, words: Sequence[int]) -> list[_State]:
        """Return the texts with one more swap; note those with another answer."""
        nexts: list[tuple[TaskInput, Swap]] = []
        for word, proposals in zip(words, self._propose(state.source, words), strict=True):
            for piece, probability in proposals:
                text, pair = _swapped(state.source, word, piece)
                if (text, pair) in self._seen:
                    continue
                choices = _choices(state.source)
                source = task_input(self.model, text, pair, choices=choices)
                # A text that splits into other words cannot be compared word by word.
                if len(source.words) != len(state.source.words):
                    continue
                self._seen.add((text, pair))
                before = state.source.words[word].text
                nexts.append((source, Swap(word, before, piece, probability)))
        if not nexts:
            return []
        self._run([source for source, _ in nexts])
        states = []
        for source, swap in nexts:
            logits = self._logits[source.text, source.text_pair]
            target, swaps = self.goal.target(source), (*state.swaps, swap)
            progress = self.goal.progress(float(target.value(logits[None])[0]))
            result = self.model.task.answer(source, logits, self.model.labels)
            measure = float(target.measure(logits[None])[0])
            counterfactual = Counterfactual(source.text, source.text_pair, swaps, result, measure)
            if self.goal.is_reached(result):
                self.counterfactuals.append(counterfactual)
            elif progress > self._most_progress:
                self._most_progress, self.closest = progress, counterfactual
            states.append(_State(source, swaps, progress))
        return states

    def _run(self, sources: Sequence[TaskInput]) -> None:
        """Run the texts whose logits are not known yet."""
        new = [source for source in sources if (source.text, source.text_pair) not in self._logits]
        if new:
            self.budget.take(len(new))
            logits = run_task(self.model, [whole(source) for source in new])
            for source, row_logits in zip(new, logits, strict=True):
                self._logits[source.text, source.text_pair] = row_logits

    def _propose(
        self, source: TaskInput, words: Sequence[int]
    ) -> Iterator[list[tuple[str, float]]]:
        """Yield the words that may stand in each place, with their probabilities."""
        self.budget.take(len(words))
        tokenizer = self.proposer.tokenizer
        masked = [self._masked(source, word) for word in words]
        rows = [row for row, _ in masked]
        best: list[tuple[list[float], list[int]]] = [([], [])] * len(rows)
        for batch, hidden in run_rows(self.proposer, rows):
            at = torch.tensor([masked[i][1] for i in batch], device=hidden.device)
            read = hidden[torch.arange(len(batch), device=hidden.device), at]
            done = 0
            for log_p in word_log_probabilities(self.proposer, read):
                named = log_p[:, : tokenizer.vocab_size].exp()
                values, ids_of = named.topk(min(4 * NUM_PROPOSALS, named.shape[1]))
                for offset in range(len(log_p)):
                    best[batch[done + offset]] = (
                        values[offset].tolist(),
                        ids_of[offset].tolist(),
                    )
                done += len(log_p)
        for word, (probabilities, pieces) in zip(words, best, strict=True):
            yield self._usable(source.words[word].text, probabilities, pieces)

    def _masked(self, source: TaskInput, word: int) -> tuple[Row, int]:
        """Return the input as the proposer reads it, with a mask for the word, and its place."""
        tokenizer, hidden = self.proposer.tokenizer, source.words[word]
        # Choices are left out, so that proposals favour none of them.
        if tokenizer.vocab == self.model.tokenizer.vocab and not _choices(source):
            ids, segments = source.encoding.input_ids, source.encoding.segment_ids
            masked_ids = [*ids[: hidden.start], tokenizer.mask_id, *ids[hidden.end :]]
            return Row(
                masked_ids, [*segments[: hidden.start + 1], *segments[hidden.end :]]
            ), hidden.start
        # The texts are tokenised again, with the mask in place of the word.
        texts = _replaced(source, word, tokenizer.mask_token)
        encoding = tokenizer.encode(*texts, max_length=self.proposer.max_length)
        start = source.encoding.offsets[hidden.start][0]
        places = [
            (abs(encoding.offsets[i][0] - start), i)
            for i, id in enumerate(encoding.input_ids)
            if id == tokenizer.mask_id and encoding.text_ids[i] == hidden.text_id
        ]
        # A mask that was cut off proposes nothing: [CLS] would be read instead.
        place = min(places)[1] if places else 0
        return Row(list(encoding.input_ids), list(encoding.segment_ids)), place

    def _usable(
        self, before: str, values: Sequence[float], ids: Sequence[int]
    ) -> list[tuple[str, float]]:
        """Return those proposals that are whole words and other than what stands there."""
        tokenizer = self.proposer.tokenizer
        usable = []
        for value, token_id in zip(values, ids, strict=True):
            piece = tokenizer.id_to_token(token_id).lstrip(WORD_MARKS)
            if token_id in tokenizer.special_ids or not piece.isalnum():
                continue
            if piece.lower() != before.lower():
                usable.append((piece, value))
        return usable[:NUM_PROPOSALS]


def _choices(source: TaskInput) -> tuple[str, ...]:
    return source.choices if isinstance(source, ChoiceInput) else ()


def _swapped(source: TaskInput, word: int, after: str) -> tuple[str, str | None]:
    """Return the texts with another word in the place of one; capitals are kept at its start."""
    replaced = source.words[word]
    if replaced.text[:1].isupper() and after.islower():
        after = after[:1].upper() + after[1:]
    return _replaced(source, word, after)


def _replaced(source: TaskInput, word: int, after: str) -> tuple[str, str | None]:
    """Return the texts with another word in the place of one."""
    replaced = source.words[word]
    start, end = (
        source.encoding.offsets[replaced.start][0],
        source.encoding.offsets[replaced.end - 1][1],
    )
    if replaced.text_id == 1:
        pair = source.text_pair or ""
        return source.text, pair[:start] + after + pair[end:]
    return source.text[:start] + after + source.text[end:], source.text_pair
