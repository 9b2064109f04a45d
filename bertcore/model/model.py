"""The interface of every opened checkpoint, whatever its architecture."""

from __future__ import annotations

import json
import tempfile
import threading
import warnings
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol, overload

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from bertcore.base.memory import SMALL, free_memory, gigabytes
from bertcore.model.architecture.config import BertConfig
from bertcore.model.architecture.families import CAPABILITIES, HEADS, Capability
from bertcore.model.architecture.objectives import MASKED_LM_PROB
from bertcore.model.checkpoints.card import CARD, read_licence, write_card
from bertcore.model.interventions import Changes
from bertcore.model.network import Encoder
from bertcore.model.objectives.text_loss import TextLoss, text_loss
from bertcore.model.sentences import MEAN, POOLINGS, SentenceModules
from bertcore.model.tokenizer import Encoding, Tokenizer
from bertcore.model.trace import Activations, Trace
from bertcore.model.unread import find_unread

if TYPE_CHECKING:
    from bertcore.model.checkpoints import LoadReport
    from bertcore.model.checkpoints.in_memory import ModelInMemory


@dataclass(frozen=True, slots=True)
class NextSentence:
    """The two probabilities of the next-sentence head; they sum to 1."""

    is_next: float
    """Probability that text B follows text A (class 0)."""
    not_next: float
    """Probability that B is a random text (class 1)."""

    @property
    def probabilities(self) -> tuple[float, float]:
        """Of both classes."""
        return self.is_next, self.not_next


@dataclass(frozen=True, slots=True)
class SentenceOrder:
    """The two probabilities of ALBERT's sentence-order head; they sum to 1."""

    in_order: float
    """Probability that text A comes before text B (class 0)."""
    exchanged: float
    """Probability that they were exchanged (class 1)."""

    @property
    def probabilities(self) -> tuple[float, float]:
        """Of both classes."""
        return self.in_order, self.exchanged


class TraceInput(NamedTuple):
    """What a trace takes instead of the usual: see `Model.trace`."""

    segment_ids: Sequence[int] | None = None
    position_ids: Sequence[int] | None = None
    encoding: Encoding | None = None
    changes: Changes | None = None


USUAL = TraceInput()


class TraceMemory(Protocol):
    """Keeps traces by the input that was run."""

    def get(self, of: Hashable, make: Callable[[], Trace]) -> Trace:
        """Return the trace of an input, made if it is not kept."""

    def peek(self, of: Hashable) -> Trace | None:
        """Return the trace of an input if it is kept."""


def _input_of(
    encoding: Encoding,
    segment_ids: Sequence[int] | None = None,
    position_ids: Sequence[int] | None = None,
) -> Hashable:
    """Return what identifies an input: its ids."""
    segments = encoding.segment_ids if segment_ids is None else segment_ids
    positions = None if position_ids is None else tuple(position_ids)
    return tuple(encoding.input_ids), tuple(segments), positions


_LARGE = threading.RLock()
"""Held while activations over `SMALL` are computed: each then sees how much the others took."""
_USUAL = 512
"""Tokens of a text of which a batch takes as many as it is told to."""


class Model(ABC):
    """An encoder and its tokenizer on one device, in evaluation mode.

    `Bert` runs on our own network, `OtherModel` on the code of `transformers`. `capabilities` lists
    what a checkpoint has besides tokens, hidden states and attention.

    Args:
        tokenizer: Its tokenizer. Texts that need a piece without a row in the token table are
            rejected.
        name: Its name in messages: "default", a folder, a hub id.

    ValueError if the vocabulary is much larger than the table (`Tokenizer.for_network`).
    """

    memory: TraceMemory | None = None
    """Keeps the traces of inputs without changes, so that each is run once; None: nothing is."""

    def __init__(
        self,
        module: Encoder,
        tokenizer: Tokenizer,
        *,
        name: str = "in memory",
        report: LoadReport | None = None,
        sentence_modules: SentenceModules | None = None,
    ) -> None:
        self.module = module
        module.eval()
        config = module.config
        self.tokenizer = tokenizer.for_network(config.vocab_size, config.type_vocab_size)
        self.name = name
        self.report = report
        self.sentence_modules = sentence_modules
        self.in_memory: ModelInMemory | None = None
        """The model of `transformers` whose weights it shares, if it is one."""
        self.objective: str | None = None
        """The objective of the run that made it, as for `pretrain --objective`, if known."""

    def tokenize(
        self, text: str, text_pair: str | None = None, *, max_length: int | None = None
    ) -> Encoding:
        """Return the tokens of a text or pair, truncated to `max_length` or `limit`.

        ValueError if there is none, as for an empty text if no tokens are added (GPT-2).
        """
        limit = self.limit(max_length)
        encoding = self.tokenizer.encode(text, text_pair, max_length=limit)
        if not encoding.input_ids:
            raise ValueError(
                "the text has no token: this tokenizer adds none before or after it. Type a word."
            )
        cut = encoding.truncation
        if cut is not None and limit < min(self.max_length, max_length or self.max_length):
            size = gigabytes(self.trace_bytes(self.max_length))
            why = f"for lack of memory: the activations of {self.max_length} would take {size}"
            encoding = replace(encoding, truncation=replace(cut, reason=why))
        return encoding

    @abstractmethod
    def trace_bytes(self, num_tokens: int) -> int:
        """Return the most memory that the trace of a text takes, in bytes."""

    @overload
    def trace(
        self,
        text: str,
        text_pair: str | None = None,
        *,
        segment_ids: Sequence[int] | None = None,
        position_ids: Sequence[int] | None = None,
        encoding: Encoding | None = None,
        changes: Changes | None = None,
    ) -> Trace: ...

    @overload
    def trace(
        self, text: list[str], text_pair: list[str | None] | list[str] | None = None
    ) -> list[Trace]: ...

    def trace(
        self,
        text: str | list[str],
        text_pair: str | list[str | None] | list[str] | None = None,
        *,
        segment_ids: Sequence[int] | None = None,
        position_ids: Sequence[int] | None = None,
        encoding: Encoding | None = None,
        changes: Changes | None = None,
    ) -> Trace | list[Trace]:
        """Run a text or pair and keep every activation; of a list, one trace for each text.

        Args:
            segment_ids, position_ids: Ids to use instead of the usual ones, one for each token, to
                see their effect.
            encoding: Tokens to use instead of those of the texts, for example with some masked.
            changes: Heads and layers to switch off, another attention pattern, edited ids and
                weights.

        Raises:
            ValueError: If ids are out of range or do not fit the number of tokens, position ids are
                given to a network without position vectors (ModernBERT), or `changes` names
                something that does not exist.
            TypeError: If a list of texts is given ids or changes, which belong to one text.
        """
        given = TraceInput(segment_ids, position_ids, encoding, changes)
        if isinstance(text, str):
            assert not isinstance(text_pair, list)
            if self.memory is None or changes:
                return self._trace(text, text_pair, given)
            return self._remembered(text, text_pair, given)
        if given != USUAL:
            raise TypeError(f"ids, tokens and changes belong to one text; got {len(text)} texts.")
        pairs = [None] * len(text) if text_pair is None else text_pair
        return self._trace_all(list(zip(text, pairs, strict=True)))

    def _remembered(self, text: str, text_pair: str | None, given: TraceInput) -> Trace:
        """Return the trace of an input, run once whatever the texts that have its ids."""
        assert self.memory is not None
        read = given.encoding or self.tokenize(text, text_pair)
        given = given._replace(encoding=read)
        of = _input_of(read, given.segment_ids, given.position_ids)
        trace = self.memory.get(of, lambda: self._trace(text, text_pair, given))
        if (trace.text_a, trace.text_b) == (text, text_pair):
            return trace
        return replace(
            trace,
            text_a=text,
            text_b=text_pair,
            tokens=list(read.tokens),
            offsets=list(read.offsets),
            text_ids=list(read.text_ids),
            word_ids=list(read.word_ids),
            truncation=read.truncation,
        )

    def _known(self, encoding: Encoding) -> Trace | None:
        """Return the trace of an input if it was run and is kept."""
        return None if self.memory is None else self.memory.peek(_input_of(encoding))

    @abstractmethod
    def _trace(self, text: str, text_pair: str | None, given: TraceInput = USUAL) -> Trace:
        """Run a text or pair and keep every activation that the architecture exposes."""

    def _trace_all(self, texts: Sequence[tuple[str, str | None]]) -> list[Trace]:
        return [self._trace(*pair) for pair in texts]

    def _traced(
        self,
        text: str,
        text_pair: str | None,
        encoding: Encoding,
        segment_ids: list[int],
        position_ids: list[int],
        activations: Activations,
    ) -> Trace:
        return Trace(
            text_a=text,
            text_b=text_pair,
            tokens=list(encoding.tokens),
            input_ids=list(encoding.input_ids),
            segment_ids=segment_ids,
            position_ids=position_ids,
            offsets=list(encoding.offsets),
            text_ids=list(encoding.text_ids),
            word_ids=list(encoding.word_ids),
            truncation=encoding.truncation,
            activations=activations,
            checkpoint=self.name,
        )

    @abstractmethod
    def save(self, folder: str | Path) -> Path:
        """Write a checkpoint folder that `transformers` opens."""

    def _write_card(self, folder: Path) -> None:
        """Write the model card of a saved checkpoint; one that is there already is kept."""
        if (folder / CARD).exists():
            return
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        shape = f"{self.config.num_hidden_layers} layers of {self.config.hidden_size}"
        write_card(
            folder,
            base="a network in memory" if self.report is None else self.name,
            licence=None if self.report is None else read_licence(self.report.folder),
            about=f"{self.config.family.name} of {shape}, written by BertScope.",
            facts={"Vocabulary": f"{self.tokenizer.vocab_size:,} pieces"},
            architecture=str(config["architectures"][0]),
            opened_by="load",
        )

    def push_to_hub(
        self, repo: str, *, private: bool | None = None, token: str | None = None
    ) -> str:
        """Upload the checkpoint with its card to the Hugging Face hub; return its address.

        Args:
            repo: `user/name`, made if it is not there.
            private: Whether a new repository is private; None takes the account's setting.
            token: One that may write; None takes that of `hf auth login` or HF_TOKEN.

        ValueError if the hub refuses the name or the token; RuntimeError if it is not reached.
        """
        from bertcore.model.checkpoints.hub import push  # its library takes a while to import

        with tempfile.TemporaryDirectory() as place:
            folder = self.save(Path(place) / repo.rpartition("/")[2])
            return push(folder, repo, private=private, token=token)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities of this checkpoint, a subset of CAPABILITIES."""
        return frozenset(CAPABILITIES) - self.absent.keys()

    @property
    def has_task_head(self) -> bool:
        """Whether the checkpoint has a head of fine-tuning, read or not."""
        return self.report is not None and bool(self.report.task_heads)

    @property
    def absent(self) -> Mapping[Capability, str]:
        """Missing capability -> the reason, as a sentence, and what to open instead."""
        heads = {head: self.module.why_no_head(head) for head in HEADS}
        reasons = {head: reason for head, reason in heads.items() if reason is not None}
        present = heads.keys() - reasons.keys()
        family = self.config.family.absent
        never = {name: text for name, text in family.items() if name not in present}
        return MappingProxyType(reasons | never)

    def require(self, capability: Capability) -> None:
        """Make sure that the checkpoint has a capability.

        ValueError if it does not have it; the message gives the reason.
        """
        reason = self.absent.get(capability)
        if reason is not None:
            raise ValueError(reason)

    @property
    def config(self) -> BertConfig:
        """The shape of the network."""
        return self.module.config

    @property
    def device(self) -> torch.device:
        return self.module.token_table.device

    @property
    def dtype(self) -> torch.dtype:
        """The number format of the weights."""
        return self.module.token_table.dtype

    @cached_property
    def max_length(self) -> int:
        """The longest input in tokens that both the position table and the tokenizer allow."""
        return min(self.config.max_length, self.tokenizer.model_max_length)

    @cached_property
    def fitting_length(self) -> int:
        """The longest input in tokens whose activations the memory holds.

        They take at most a quarter of what is free when this is first asked, since a page computes
        with copies of them: at 2,000 tokens, What if? took 2.5 times `trace_bytes`, and How tokens
        mix 3.6 times. It stays as it is, so that a text always has the same tokens.
        """
        if self.trace_bytes(self.max_length) <= SMALL:
            return self.max_length
        most = max(SMALL, self._free_memory() / 4)
        return bisect_right(range(1, self.max_length + 1), most, key=self.trace_bytes)

    def limit(self, max_length: int | None) -> int:
        """Return the longest input in tokens: what the checkpoint reads, and the memory holds.

        Or `max_length`, if that is less.
        """
        longest = min(self.max_length, self.fitting_length)
        return longest if max_length is None else min(max_length, longest)

    @contextmanager
    def room_for(self, num_tokens: int) -> Iterator[None]:
        """Compute inside the block what takes `trace_bytes`; large ones one at a time.

        RuntimeError if there is not enough memory.
        """
        needed = self.trace_bytes(num_tokens)
        if needed <= SMALL:
            yield
            return
        with _LARGE:
            free = self._free_memory()
            if needed > free:
                raise RuntimeError(
                    f"there is not enough memory: the activations of {num_tokens} tokens take "
                    f"{gigabytes(needed)}, but {gigabytes(free)} are free. Shorten the text, or "
                    "close other checkpoints and programs."
                )
            yield

    def _free_memory(self) -> int:
        """Return the free bytes where activations are computed, and where they are kept."""
        return min(free_memory(self.device), free_memory(torch.device("cpu")))

    def _ids(self, values: Sequence[int]) -> Tensor:
        return torch.tensor(values, dtype=torch.long, device=self.device)

    def _check_segments(self, encoding: Encoding) -> None:
        """Make sure that the table has the segments that the tokenizer's files name."""
        num_segments = self.config.type_vocab_size
        if num_segments:  # without a table they are not read
            check_ids("segment_ids", encoding.segment_ids, len(encoding), num_segments)

    @torch.no_grad()
    def hidden(self, encoding: Encoding) -> Tensor:
        """Return the last hidden state, [T, D], on the device."""
        if (known := self._known(encoding)) is not None:
            return known.hidden_states[-1].to(self.device, self.dtype)
        self._check_segments(encoding)
        out: Tensor = self.module(
            self._ids(encoding.input_ids)[None], self._ids(encoding.segment_ids)[None]
        )
        return out[0]

    @torch.no_grad()
    def word_states(self, encoding: Encoding) -> Tensor:
        """Return the input of the masked-word head at each token, [T, D], on the device.

        In BERT this is the last hidden state; other architectures use other states.
        """
        known = self._known(encoding)
        states = None if known is None else known.activations.word_states
        if states is not None:
            return states.to(self.device, self.dtype)
        self._check_segments(encoding)
        return self.module.word_states(
            self._ids(encoding.input_ids)[None], self._ids(encoding.segment_ids)[None]
        )[0]

    @torch.no_grad()
    def mask_probabilities(self, encoding: Encoding) -> tuple[list[int], Tensor]:
        """Return the positions of [MASK] and the word distribution at each, float32 [M, V].

        ValueError if there is no [MASK], or the checkpoint has no masked-word head.
        """
        self.require("mlm")  # before an error about a missing mask, which would not help
        mask_id = self.tokenizer.mask_id
        positions = [i for i, token_id in enumerate(encoding.input_ids) if token_id == mask_id]
        if not positions:
            raise ValueError(
                f"the text has no {self.tokenizer.mask_token}. "
                f"Write {self.tokenizer.mask_token} where a word should be predicted."
            )
        logits = self.module.mlm_logits(self.word_states(encoding)[positions])
        return positions, torch.softmax(logits.float(), dim=-1).cpu()

    def fill_mask(
        self, text: str, text_pair: str | None = None, *, top_k: int = 5
    ) -> list[list[tuple[str, float]]]:
        """Return the `top_k` most probable pieces and their probabilities for each [MASK].

        Pieces are the `token_str` of `pipeline("fill-mask")`: RoBERTa's have their space.

        Several masks are predicted independently of each other, as BERT was trained. Warns
        (`UserWarning`) if the vocabulary lacks the words of the text.

        ValueError if there is no [MASK], no masked-word head, or top_k is below 1.
        """
        if top_k < 1:
            raise ValueError(f"top_k is {top_k}; expected at least 1.")
        encoding = self.tokenize(text, text_pair)
        _, probabilities = self.mask_probabilities(encoding)
        unread = find_unread(self.tokenizer, encoding, (text, text_pair))
        if unread is not None and unread.is_most:
            warnings.warn(unread.sentence(self.tokenizer.unk_token), stacklevel=2)
        top_k = min(top_k, self.tokenizer.vocab_size)
        # Rows beyond the tokenizer's vocabulary (a padded table) have no name.
        best = probabilities[:, : self.tokenizer.vocab_size].topk(top_k)
        return [
            [
                (self.tokenizer.decode([int(i)]), float(p))
                for p, i in zip(row_values, row_ids, strict=True)
            ]
            for row_values, row_ids in zip(best.values, best.indices, strict=True)
        ]

    @torch.no_grad()
    def next_sentence(
        self, text: str, text_pair: str, *, segment_ids: Sequence[int] | None = None
    ) -> NextSentence:
        """Return the probability that `text_pair` follows `text`.

        ValueError if the checkpoint has no next-sentence head.
        """
        encoding = self.tokenize(text, text_pair)
        segments = list(encoding.segment_ids if segment_ids is None else segment_ids)
        check_ids("segment_ids", segments, len(encoding.input_ids), self.config.type_vocab_size)
        hidden = self.hidden(replace(encoding, segment_ids=segments))[None]
        is_next, not_next = torch.softmax(self.module.nsp_logits(hidden)[0].float(), -1).tolist()
        return NextSentence(is_next=is_next, not_next=not_next)

    @torch.no_grad()
    def sentence_order(self, text: str, text_pair: str) -> SentenceOrder:
        """Return the probability that `text` comes before `text_pair`, by ALBERT's head.

        ValueError if the checkpoint has no sentence-order head.
        """
        hidden = self.hidden(self.tokenize(text, text_pair))[None]
        logits = self.module.sop_logits(hidden)[0].float()
        in_order, exchanged = torch.softmax(logits, -1).tolist()
        return SentenceOrder(in_order=in_order, exchanged=exchanged)

    @torch.no_grad()
    def replaced_tokens(self, text: str, text_pair: str | None = None) -> Tensor:
        """Return each token's probability of having been replaced, by a discriminator, [T].

        On the CPU, for the tokens of `tokenize` of the same texts. ValueError if the checkpoint has
        no replaced-token head.
        """
        hidden = self.hidden(self.tokenize(text, text_pair))
        return torch.sigmoid(self.module.replaced_logits(hidden).float()).cpu()

    def loss(
        self,
        text: str,
        text_pair: str | None = None,
        *,
        words: Sequence[str] | None = None,
        follows: bool | None = None,
        seed: int = 0,
        masked_lm_prob: float = MASKED_LM_PROB,
    ) -> TextLoss:
        """Return the pretraining loss of a text or pair, in nats.

        With [MASK] in the text, `words` are the right words; otherwise tokens are hidden as in
        pretraining, 80/10/10.

        Args:
            words: The right word at each [MASK], in order; one piece of the vocabulary each.
            follows: Whether B really follows A, for the next-sentence loss; None leaves it out.
            seed: Determines which tokens are hidden if the text has no [MASK].
            masked_lm_prob: Share of the tokens that are then hidden, 0 < p < 1.

        Raises:
            TypeError: If `words` is one string.
            ValueError: If there is no masked-word head, or no next-sentence head or pair though
                `follows` is given; if words and masks do not match, a mask was cut off, or a word
                is not one piece of text; if nothing can be hidden, or `seed` is out of its range.
        """
        return text_loss(self, text, text_pair, words, follows, seed, masked_lm_prob)

    def sentence_encoding(self, text: str) -> Encoding:
        """Return the tokens of a text from which its sentence vector is computed.

        A sentence encoder truncates texts to its own length and may put a prompt before them.

        ValueError if the text is not valid Unicode; for GPT-2 also if it is empty.
        """
        modules = self.sentence_modules or MEAN
        return self.tokenize(modules.prompt + text, max_length=modules.max_length)

    @torch.no_grad()
    def encode(
        self,
        texts: Sequence[str],
        *,
        layer: int = -1,
        pooling: str | None = None,
        batch_size: int = 32,
    ) -> Tensor:
        """Return one vector for each text, float32 on the CPU, [N, D].

        For a sentence encoder (a checkpoint with modules.json), these are the vectors of
        `SentenceTransformer.encode`, with its pooling, other modules and length limit. For any
        other checkpoint, it is the mean over all tokens of the last layer, including [CLS] and
        [SEP].

        Args:
            texts: Any number; texts over the limit are truncated at the end.
            layer: Which of hidden_states[i] to read: 0 the input, 1 after layer 0, -1 the last.
            pooling: One of POOLINGS, instead of a sentence encoder's own modules and length; None:
                those, or "mean".
            batch_size: Texts per batch; texts are sorted by length, so there is little padding.

        Raises:
            ValueError: If `layer` or `pooling` does not exist, batch_size is below 1, or a module
                of the sentence encoder is unknown or does not read that layer.
            TypeError: If `texts` is a single string.
        """
        num_layers = self.config.num_hidden_layers
        if not -num_layers - 1 <= layer <= num_layers:
            raise ValueError(
                f"layer is {layer}; this checkpoint has hidden states 0 to {num_layers} "
                "(0 the input, -1 the last)."
            )
        if pooling is not None and pooling not in POOLINGS:
            raise ValueError(f"pooling is {pooling!r}; expected one of {', '.join(POOLINGS)}.")
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; expected at least 1.")
        if isinstance(texts, str):
            raise TypeError("texts is a single string; expected a list of strings.")
        depth = layer % (num_layers + 1)
        modules = self.sentence_modules or MEAN
        if pooling is not None:
            modules = SentenceModules(poolings=(pooling,))
        modules.check()
        if depth != num_layers and modules is self.sentence_modules:
            raise ValueError(
                f"layer is {layer}, but the modules of this sentence encoder read the last layer. "
                "Name a pooling, such as pooling='mean', to pool another."
            )
        limit = modules.max_length
        encodings = [self.tokenize(modules.prompt + text, max_length=limit) for text in texts]
        out = torch.empty(len(texts), modules.width(self.config.hidden_size))
        for rows, ids, segments, attention_mask in self._padded(encodings, batch_size):
            hidden = self.module(ids, segments, attention_mask, num_layers=depth)
            out[rows] = modules.vectors(hidden, attention_mask).cpu()
        return out

    def _padded(
        self, encodings: Sequence[Encoding], batch_size: int
    ) -> Iterator[tuple[list[int], Tensor, Tensor, Tensor]]:
        """Yield (indices, ids, segment ids, kept) of batches of similar length, [B, T]."""
        for encoding in encodings:
            self._check_segments(encoding)
        order = sorted(range(len(encodings)), key=lambda i: len(encodings[i].input_ids))
        while order:
            # Attention grows with the square of the length: of long texts, fewer at a time.
            size = batch_size
            while (
                size > 1 and size * len(encodings[order[:size][-1]]) ** 2 > batch_size * _USUAL**2
            ):
                size //= 2
            rows, order = order[:size], order[size:]
            chosen = [encodings[i] for i in rows]
            ids, segment_ids = zip(*((e.input_ids, e.segment_ids) for e in chosen), strict=True)
            yield rows, *self.padded(ids, segment_ids)

    def padded(
        self, ids: Sequence[Sequence[int]], segment_ids: Sequence[Sequence[int]]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return ids, segment ids, and True where a token is: [B, T], on the device."""

        def rectangle(rows: Sequence[Sequence[int]], padding: int) -> Tensor:
            tensors = [torch.tensor(row, dtype=torch.long) for row in rows]
            return pad_sequence(tensors, batch_first=True, padding_value=padding).to(self.device)

        kept = rectangle([[1] * len(row) for row in ids], 0).bool()
        return rectangle(ids, self.tokenizer.pad_id), rectangle(segment_ids, 0), kept


def check_ids(name: str, ids: Sequence[int], num_tokens: int, limit: int) -> None:
    """Make sure that there is one id for each token, each below `limit`.

    ValueError if their number is wrong, or one is out of range; the message uses `name`.
    """
    if len(ids) != num_tokens:
        raise ValueError(
            f"{name} has {len(ids)} entries but the input has {num_tokens} tokens. "
            "Give one id for each token, special tokens included."
        )
    # Without a table, as in a family without segments, 0 has no meaning.
    wrong = [i for i in ids if not 0 <= i < max(limit, 1)]
    if wrong:
        raise ValueError(
            f"{name} contains {wrong[0]}; this checkpoint has 0 to {max(limit, 1) - 1}."
        )
