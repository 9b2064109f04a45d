"""One training example from document to loss, made by the code of pretraining."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import torch
import torch.nn.functional as F

from bertcore.analysis.shared.inputs import best_pieces, require_finite_logits
from bertcore.analysis.words.documents import DOCUMENTS
from bertcore.analysis.words.predictions import predict_masks
from bertcore.analysis.words.surprise import example_mask
from bertcore.data.sentences import split_sentences
from bertcore.model.architecture.objectives import MASKED_LM_PROB
from bertcore.model.model import Model
from bertcore.model.network import Network
from bertcore.model.objectives.masking import mask_text
from bertcore.model.objectives.row import ACTIONS, BECAME, Actions, check_actions
from bertcore.model.tokenizer import WORD_MARKS
from bertcore.training.pretraining.data.corpus import pack_corpus
from bertcore.training.pretraining.data.layout import lay_out
from bertcore.training.pretraining.data.rows import create_instances

BEST = 3
"""Number of guesses kept at each hidden place."""
LONGEST = 128
"""Tokens of an example, including special ones, as in nine tenths of BERT's pretraining."""


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence of the document, or of the one from which a random B comes."""

    text: str
    document: int
    """0: the user's; otherwise the number of another document, from 1."""
    part: str
    """"A", "B", or "" if the example leaves it out."""
    num_tokens: int
    num_kept: int
    """Number of its tokens in the example; fewer if the pair was too long."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A hidden token and the network's prediction for it."""

    position: int
    token: str
    """The right one."""
    became: str
    """"mask", "kept" or "random"."""
    best: tuple[tuple[str, float], ...]
    """The most probable pieces, [BEST]."""
    probability: float
    """Of the right piece."""
    loss: float
    """-ln of it, nats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingExample:
    """BERT's input, its predictions and the right answers; losses in nats."""

    sentences: tuple[SourceSentence, ...]
    """Sentences of the document, then those of the document of a random B."""
    is_random: bool
    """Whether B is from another document."""
    tokens: tuple[str, ...]
    """Before any is hidden, [T]."""
    segment_ids: tuple[int, ...]
    """What the network reads, [T]; all 0 where it has no second segment."""
    text_ids: tuple[int, ...]
    """0 at tokens of A, 1 at tokens of B, -1 at added tokens, [T]."""
    input_tokens: tuple[str, ...]
    """What the network reads, [T]."""
    input_ids: tuple[int, ...]
    """The same, as ids."""
    labels: tuple[int, ...]
    """The right id at each guess."""
    guesses: tuple[Guess, ...]
    """In order of their positions."""
    pair_logits: tuple[float, float] | None
    """Of "B follows A" and "B is random"; None: there is no next-sentence head."""

    @property
    def guess_at(self) -> list[Guess | None]:
        """The guess at each token; None where nothing is hidden, [T]."""
        by_position = {guess.position: guess for guess in self.guesses}
        return [by_position.get(position) for position in range(len(self.tokens))]

    @property
    def mlm_loss(self) -> float:
        """Mean over the hidden tokens."""
        return sum(guess.loss for guess in self.guesses) / len(self.guesses)

    @property
    def pair_probabilities(self) -> tuple[float, float] | None:
        """Softmax of the two logits."""
        if self.pair_logits is None:
            return None
        first, second = torch.tensor(self.pair_logits).softmax(0).tolist()
        return first, second

    @property
    def nsp_loss(self) -> float | None:
        """-ln p of the right answer."""
        if self.pair_logits is None:
            return None
        right = torch.tensor(int(self.is_random))
        return float(F.cross_entropy(torch.tensor(self.pair_logits), right))

    @property
    def loss(self) -> float:
        """The sum, which a training step lowers."""
        return self.mlm_loss + (self.nsp_loss or 0.0)


def training_example(
    bert: Model,
    text: str,
    others: Sequence[str] = (),
    *,
    seed: int = 0,
    masked_lm_prob: float = MASKED_LM_PROB,
    actions: Actions = ACTIONS,
) -> TrainingExample:
    """Draw a training example from a document, with the network's answer to it.

    Args:
        bert: A checkpoint with a masked-word head; without a next-sentence head the pair is not
            judged.
        text: The document; its paragraphs are separated by line breaks.
        others: Documents for a random B; () takes those of `DOCUMENTS`.
        seed: Fixes where the document is split, the coin, the random B and the hidden tokens.

    ValueError if there is no masked-word head, the text has no word, there is no other document, a
    share is out of its range, or the answers are NaN or infinite.

    Source: Devlin et al. 2019, appendix A.2, by `create_instances` and `mask_text`.
    """
    bert.require("mlm")
    check_actions(actions)
    tokenizer = bert.tokenizer
    others = others or [document.text for document in DOCUMENTS if document.text != text]
    documents = [_sentences(bert, document) for document in (text, *others)]
    if not documents[0]:
        raise ValueError("the text has no word. Write at least one sentence; three are better.")
    documents = [document for document in documents if document]
    if len(documents) == 1:
        raise ValueError("there is no other document for a random B. Give at least one.")
    corpus = pack_corpus(documents, tokenizer)
    rng = Random(f"{seed}/example")
    length = min(LONGEST, bert.max_length)
    instances = create_instances(
        corpus, max_seq_length=length, short_seq_prob=0.0, rng=rng, documents=range(1)
    )
    number = rng.randrange(len(instances))
    instance = instances.take(slice(number, number + 1))
    width = int(instance.lengths[0])
    device = torch.device("cpu")
    rows = lay_out(corpus, instance, tokenizer, width, device)
    masked = mask_text(
        rows.ids[0].tolist(),
        rows.is_special[0].tolist(),
        mask_id=tokenizer.mask_id,
        vocab_size=tokenizer.vocab_size,
        seed=seed,
        masked_lm_prob=masked_lm_prob,
        actions=actions,
    )
    positions = masked.positions[0].tolist()
    segment_ids = rows.segment_ids
    if bert.config.type_vocab_size < 2:  # RoBERTa's and DistilBERT's tokens have one segment
        segment_ids = torch.zeros_like(segment_ids)
    log_p, pair_logits = _answers(bert, masked.input_ids, segment_ids, positions)
    require_finite_logits([log_p[:, : tokenizer.vocab_size], torch.tensor(pair_logits or ())])
    name = tokenizer.id_to_token
    guesses = []
    for row, position in enumerate(positions):
        right = int(masked.labels[0, row])
        guesses.append(
            Guess(
                position=position,
                token=name(right),
                became=BECAME[int(masked.action[0, row])],
                best=best_pieces(bert, log_p[row], BEST),
                probability=float(log_p[row, right].exp()),
                loss=-float(log_p[row, right]),
            )
        )
    spans = instance.spans[0].tolist()
    is_random = bool(instance.labels[0])
    return TrainingExample(
        sentences=_sources(documents, corpus.sentence_starts.tolist(), spans, is_random=is_random),
        is_random=is_random,
        tokens=tuple(map(name, rows.ids[0].tolist())),
        segment_ids=tuple(segment_ids[0].tolist()),
        text_ids=tuple(rows.segment_ids.masked_fill(rows.is_special, -1)[0].tolist()),
        input_tokens=tuple(map(name, masked.input_ids[0].tolist())),
        input_ids=tuple(masked.input_ids[0].tolist()),
        labels=tuple(masked.labels[0].tolist()),
        guesses=tuple(guesses),
        pair_logits=pair_logits,
    )


LEARNING_RATE = 1e-4
"""BERT's peak rate."""


@dataclass(frozen=True, slots=True)
class StepEffect:
    """The effect of one optimizer step on one example: the answers to it after the step."""

    probabilities: tuple[float, ...]
    """Of the right piece at each guess, after the step."""
    pair_probability: float | None
    """Of the right answer about the pair, after the step."""
    mlm_loss: float
    nsp_loss: float | None
    """Nats, after the step."""

    @property
    def loss(self) -> float:
        return self.mlm_loss + (self.nsp_loss or 0.0)


def one_step(
    bert: Model, example: TrainingExample, *, learning_rate: float = LEARNING_RATE
) -> StepEffect:
    """Return the answers after one step on this example alone; arguments as of `network_after`."""
    with torch.no_grad():
        words, follows = _losses(network_after(bert, example, learning_rate=learning_rate), example)
    return StepEffect(
        tuple((-words).exp().tolist()),
        None if follows is None else float((-follows).exp()),
        float(words.mean()),
        None if follows is None else float(follows),
    )


def network_after(
    bert: Model, example: TrainingExample, *, learning_rate: float = LEARNING_RATE
) -> Network:
    """Return a copy of the network after one step of Adam on this example, without weight decay.

    Adam's first step moves each weight against its gradient by the learning rate, whatever the size
    of the gradient. The network of `bert` is not changed.

    ValueError if the learning rate is not above 0, or this is another architecture, whose network
    cannot be copied and changed here.

    Source: Kingma and Ba 2015, algorithm 1 at t = 1.
    """
    if not learning_rate > 0:
        raise ValueError(f"learning_rate is {learning_rate}; expected above 0.")
    bert.require("parts")
    network = copy.deepcopy(bert.module)
    assert isinstance(network, Network)
    with torch.enable_grad():
        for parameter in network.parameters():
            parameter.requires_grad_()
        words, follows = _losses(network, example)
        torch.autograd.backward(words.mean() if follows is None else words.mean() + follows)
    with torch.no_grad():
        for parameter in network.parameters():
            gradient = parameter.grad
            if gradient is not None:
                parameter.sub_(learning_rate * gradient / (gradient.abs() + _EPSILON))
    return network


def _losses(network: Network, example: TrainingExample) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return the loss of each guess, and that of the pair where it is judged; nats."""
    device = network.token_table.device
    ids = torch.tensor([example.input_ids], device=device)
    segments = torch.tensor([example.segment_ids], device=device)
    hidden = network(ids, segments)
    words = F.cross_entropy(
        network.mlm_logits(hidden[0, [guess.position for guess in example.guesses]]).float(),
        torch.tensor(example.labels, device=device),
        reduction="none",
    )
    if example.pair_logits is None:
        return words, None
    pair = torch.tensor([int(example.is_random)], device=device)
    return words, F.cross_entropy(network.nsp_logits(hidden).float(), pair)


_EPSILON = 1e-8  # of Adam


def _sentences(bert: Model, document: str) -> list[str]:
    """Return the sentences of a document that have a token, as kept by packing."""
    sentences = [one for line in document.splitlines() for one in split_sentences(line.strip())]
    ids = bert.tokenizer.encode_ids(sentences) if sentences else []
    return [sentence for sentence, tokens in zip(sentences, ids, strict=True) if tokens]


@torch.no_grad()
def _answers(
    bert: Model, input_ids: torch.Tensor, segment_ids: torch.Tensor, positions: list[int]
) -> tuple[torch.Tensor, tuple[float, float] | None]:
    """Return log-probabilities at the positions, float32 [P, V], and the pair's logits."""
    ids, segments = input_ids.to(bert.device), segment_ids.to(bert.device)
    states = bert.module.word_states(ids, segments)[0, positions]
    log_p = bert.module.mlm_logits(states).float().log_softmax(-1).cpu()
    if "nsp" not in bert.capabilities:
        return log_p, None
    first, second = bert.module.nsp_logits(bert.module(ids, segments))[0].float().tolist()
    return log_p, (first, second)


def _sources(
    documents: Sequence[Sequence[str]], starts: list[int], spans: list[int], *, is_random: bool
) -> tuple[SourceSentence, ...]:
    """Return the sentences of the document and, of a random B, of its document."""
    a_start, a_end, b_start, b_end = spans
    found: list[SourceSentence] = []
    number = 0
    for document, sentences in enumerate(documents):
        own: list[SourceSentence] = []
        for text in sentences:
            start, end = starts[number : number + 2]
            in_a = max(0, min(end, a_end) - max(start, a_start))
            in_b = max(0, min(end, b_end) - max(start, b_start))
            part = "A" if in_a else "B" if in_b else ""
            own.append(SourceSentence(text, document, part, end - start, in_a + in_b))
            number += 1
        if document == 0 or (is_random and any(one.part for one in own)):
            found += own
    return tuple(found)


_CANDIDATES = 20  # most probable pieces among which a whole word is looked for


@dataclass(frozen=True, slots=True)
class ExampleVersion:
    """A text with one word replaced."""

    text: str
    text_pair: str | None
    original: str
    """The word that was replaced, as written."""
    replacement: str


def example_version(bert: Model, text: str, text_pair: str | None = None) -> ExampleVersion | None:
    """Return the text with one word replaced by the most probable other word.

    The word is that of `example_mask`. None if there is no whole word to replace, or no other whole
    word among the most probable pieces. ValueError if the text has no token to hide, or the
    checkpoint has no masked-word head.
    """
    position = example_mask(bert, text, text_pair)
    encoding = bert.tokenize(text, text_pair)
    texts = [text, text_pair or ""]
    (start, end), number = encoding.offsets[position], encoding.text_ids[position]
    original = texts[number][start:end]
    is_whole = encoding.word_ids.count(encoding.word_ids[position]) == 1
    if not original.isalpha() or not is_whole:
        return None
    words = predict_masks(bert, text, text_pair, [position], top_k=_CANDIDATES).words[0]
    candidates = [word.lstrip(WORD_MARKS) for word in words.tolist()]
    replacement = next(
        (word for word in candidates if word.isalpha() and word.lower() != original.lower()), None
    )
    if replacement is None:
        return None
    if original[0].isupper():
        replacement = replacement[0].upper() + replacement[1:]
    texts[number] = texts[number][:start] + replacement + texts[number][end:]
    second = None if text_pair is None else texts[1]
    return ExampleVersion(texts[0], second, original, replacement)
