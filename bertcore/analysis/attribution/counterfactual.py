"""Counterfactuals: the fewest word swaps, proposed by a masked-word head, that change an answer."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bertcore.analysis.attribution.task_input import occlusion, run_task, task_input, whole
from bertcore.analysis.shared.inputs import best_pieces, log_p_at
from bertcore.model.likelihood import Row
from bertcore.model.loading import load
from bertcore.model.model import Model
from bertcore.model.tokenizer import WORD_MARKS
from bertcore.training.tasks import ChoiceInput, Goal, TaskAnswer, TaskInput
from bertcore.training.tasks.model import TaskModel


def answer(model: TaskModel, source: TaskInput) -> TaskAnswer:
    """Return the task's answer to an input.

    For "qa" that is the question with its text as the second one, for "choice" it has choices.
    ValueError if "qa" has no text to search, or "choice" has nothing to choose from.
    """
    model.task.check_input(source)
    (logits,) = run_task(model, [whole(source)])
    return model.task.answer(source, logits, model.labels)


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
    def told(self) -> str:
        """The swaps as words: "good -> bad; film -> book"."""
        return "; ".join(f"{swap.before} -> {swap.after}" for swap in self.swaps)

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

    @property
    def is_found(self) -> bool:
        """Whether a text with another answer was found."""
        return bool(self.counterfactuals)

    @property
    def texts(self) -> tuple[Counterfactual, ...]:
        """Those with another answer, or the one that came closest."""
        return self.counterfactuals or (() if self.closest is None else (self.closest,))


OnFraction = Callable[[float], None]


class _Cut(Exception):  # noqa: N818 - no error: the limit is reached
    pass


@dataclass(frozen=True, slots=True)
class _State:
    """An intermediate text: its input, the swaps so far, and how far the answer has moved."""

    source: TaskInput
    swaps: tuple[Swap, ...]
    progress: float


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

    At most `max_changes` words are swapped, and `max_forwards` inputs run. A beam search by number
    of swaps: in each of the texts whose answer has lost most, the words that matter most by
    occlusion are swapped for each proposal.

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

    ValueError if the proposer has no masked-word head, a tagger gets no word, or the answer is NaN.

    Source: ours, after Ross et al. 2021 (MiCE: importance, then a beam over infills) and Li et al.
        2020 (BERT-Attack: proposals of the masked-word head). One piece replaces a whole word.
    """
    proposer = load("default") if proposer is None else proposer
    proposer.require("mlm")
    source = task_input(model, text, text_pair, choices=choices)
    goal = answer(model, source).goal(source, word, label, score_change)
    search = _Searching(model, proposer, goal, max_forwards, on_fraction)
    is_cut = False
    try:
        search.run(source, max_changes)
    except _Cut:
        is_cut = True
    turned = sorted(search.turned, key=lambda other: -other.log_probability)
    return Search(tuple(turned), None if turned else search.closest, search.num_run, is_cut)


class _Searching:
    """The state of a search: the texts tried, and its results."""

    def __init__(
        self, model: TaskModel, proposer: Model, goal: Goal, limit: int, on_fraction: OnFraction
    ) -> None:
        self.model, self.proposer, self.goal = model, proposer, goal
        self.limit, self.on_fraction, self.num_run = limit, on_fraction, 0
        self.turned: list[Counterfactual] = []
        self.closest: Counterfactual | None = None
        self._most_progress = -math.inf
        self._seen: set[tuple[str, str | None]] = set()

    def run(self, start: TaskInput, max_changes: int) -> None:
        """Swap a further word in the best texts until some have another answer."""
        states, order = [_State(start, (), 0.0)], self._order(start)
        for _ in range(max_changes):
            tried = []
            for state in states:
                swapped = {swap.word for swap in state.swaps}
                words = [word for word in order if word not in swapped]
                tried += self._expand(state, words[:_WORDS_TRIED])
            if self.turned or not tried:
                return
            states = sorted(tried, key=lambda state: -state.progress)[:BEAM_WIDTH]

    def _take(self, number: int) -> None:
        """Count inputs before they run."""
        if self.num_run + number > self.limit:
            raise _Cut
        self.num_run += number
        self.on_fraction(self.num_run / self.limit)

    def _order(self, source: TaskInput) -> list[int]:
        """Return the words that may be swapped, the most important for the answer first."""
        self._take(1 + len(source.text_words))
        importance = occlusion(self.model, source, self.goal.target(source)).importance
        importance = self.goal.rank(importance)
        allowed = [w for w in source.text_words if w not in self.goal.fixed]
        # Only words of letters or digits: no word can replace a full stop.
        allowed = [w for w in allowed if any(c.isalnum() for c in source.words[w].text)]
        return sorted(allowed, key=lambda w: -float(importance[w]))

    def _expand(self, state: _State, words: Sequence[int]) -> list[_State]:
        """Return the texts with one more swap; note those with another answer."""
        nexts: list[tuple[TaskInput, Swap]] = []
        for word, proposals in zip(words, self._propose(state.source, words), strict=True):
            for piece, probability in proposals:
                text, pair = _swapped(state.source, word, piece)
                choices = state.source.choices if isinstance(state.source, ChoiceInput) else ()
                source = task_input(self.model, text, pair, choices=choices)
                # A text that splits into other words cannot be compared word by word.
                if (text, pair) in self._seen or len(source.words) != len(state.source.words):
                    continue
                self._seen.add((text, pair))
                before = state.source.words[word].text
                nexts.append((source, Swap(word, before, piece, probability)))
        self._take(len(nexts))
        all_logits = run_task(self.model, [whole(source) for source, _ in nexts])
        states = []
        for (source, swap), logits in zip(nexts, all_logits, strict=True):
            target, swaps = self.goal.target(source), (*state.swaps, swap)
            progress = self.goal.progress(float(target.value(logits[None])[0]))
            result = self.model.task.answer(source, logits, self.model.labels)
            measure = float(target.measure(logits[None])[0])
            counterfactual = Counterfactual(source.text, source.text_pair, swaps, result, measure)
            if self.goal.is_reached(result):
                self.turned.append(counterfactual)
            elif progress > self._most_progress:
                self._most_progress, self.closest = progress, counterfactual
            states.append(_State(source, swaps, progress))
        return states

    def _propose(self, source: TaskInput, words: Sequence[int]) -> list[list[tuple[str, float]]]:
        """Return the words that may stand in each place, with their probabilities."""
        self._take(len(words))
        masked = [self._masked(source, word) for word in words]
        rows, places = [row for row, _ in masked], [place for _, place in masked]
        proposals: list[list[tuple[str, float]]] = [[]] * len(words)
        for number, log_p in log_p_at(self.proposer, rows, places):
            before = source.words[words[number]].text.lower()
            best = best_pieces(self.proposer, log_p, 4 * NUM_PROPOSALS)
            whole_words = [(piece.lstrip(WORD_MARKS), probability) for piece, probability in best]
            proposals[number] = [
                (piece, probability)
                for piece, probability in whole_words
                if piece.isalnum() and piece.lower() != before
            ][:NUM_PROPOSALS]
        return proposals

    def _masked(self, source: TaskInput, word: int) -> tuple[Row, int]:
        """Return the input as the proposer reads it, with a mask for the word, and its place."""
        tokenizer, hidden = self.proposer.tokenizer, source.words[word]
        # Choices are left out, so that proposals favour none of them.
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
