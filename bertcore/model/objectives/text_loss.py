"""The pretraining loss of one text, which a training step would lower."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F

from bertcore.model.architecture.families import Capability
from bertcore.model.network import Encoder
from bertcore.model.objectives.masking import check_hiding, mask_text
from bertcore.model.objectives.row import BECAME
from bertcore.model.tokenizer import Encoding, Tokenizer


class Pretrained(Protocol):
    """The part of an opened checkpoint (`Model`) that a loss needs."""

    tokenizer: Tokenizer
    module: Encoder

    @property
    def device(self) -> torch.device:
        """The device of the network."""

    def tokenize(self, text: str, text_pair: str | None = None) -> Encoding:
        """Return the tokens of a text or pair."""

    def require(self, capability: Capability) -> None:
        """Raise ValueError with the reason if a capability is absent."""


@dataclass(frozen=True, slots=True)
class HiddenToken:
    """One token that the network has to predict."""

    position: int
    """0 to T-1."""
    token: str
    """The right token."""
    became: str
    """What replaces it: "mask", "kept" (itself) or "random" (another token)."""
    probability: float
    """Probability of the right token."""
    loss: float
    """-ln of the probability, in nats."""


@dataclass(frozen=True, slots=True)
class TextLoss:
    """The pretraining loss of one text or pair, in nats."""

    input_tokens: tuple[str, ...]
    """The input of the network, [T]."""
    hidden: tuple[HiddenToken, ...]
    """In order."""
    mlm_loss: float
    """Mean over the hidden tokens."""
    nsp_loss: float | None
    """-ln p of the right answer to whether B follows A; None: not asked."""
    num_unknown: int
    """Number of [UNK] among the tokens of the text; if one is hidden, [UNK] is the right token."""

    @property
    def loss(self) -> float:
        """The sum of both losses, as in BERT's pretraining."""
        return self.mlm_loss + (self.nsp_loss or 0.0)


@torch.no_grad()
def text_loss(
    bert: Pretrained,
    text: str,
    text_pair: str | None,
    words: Sequence[str] | None,
    follows: bool | None,
    seed: int,
    masked_lm_prob: float,
) -> TextLoss:
    """Return the loss of a text; arguments and errors are those of `Model.loss`."""
    bert.require("mlm")
    if isinstance(words, str):
        raise TypeError("words is a single string; expected a list of strings.")
    if follows is not None:
        if text_pair is None:
            raise ValueError("follows is given, but there is no text B. Give a pair.")
        bert.require("nsp")
    check_hiding(seed, masked_lm_prob)
    labels, became, input_ids = _hide(bert, (text, text_pair), words, seed, masked_lm_prob)
    device = bert.device
    ids = torch.tensor([input_ids], device=device)
    encoding = bert.tokenize(text, text_pair)
    segments = torch.tensor([encoding.segment_ids], device=device)
    positions = sorted(labels)
    states = bert.module.word_states(ids, segments)[0, positions]
    logits = bert.module.mlm_logits(states).float()
    targets = torch.tensor([labels[position] for position in positions], device=device)
    losses = F.cross_entropy(logits, targets, reduction="none").cpu()
    nsp_loss = None
    if follows is not None:
        pair_logits = bert.module.nsp_logits(bert.module(ids, segments)).float()
        label = torch.tensor([int(not follows)], device=device)
        nsp_loss = float(F.cross_entropy(pair_logits, label))
    name = bert.tokenizer.id_to_token
    return TextLoss(
        input_tokens=tuple(map(name, input_ids)),
        hidden=tuple(
            HiddenToken(position, name(labels[position]), became[position], p, value)
            for position, p, value in zip(
                positions, (-losses).exp().tolist(), losses.tolist(), strict=True
            )
        ),
        mlm_loss=float(losses.mean()),
        nsp_loss=nsp_loss,
        num_unknown=encoding.input_ids.count(bert.tokenizer.unk_id),
    )


def refuse_cut_masks(tokenizer: Tokenizer, encoding: Encoding, texts: Sequence[str | None]) -> None:
    """Reject a text or pair in which [MASK] is cut off by the length limit; ValueError if so."""
    cut = encoding.truncation
    if cut is None:
        return
    mask = tokenizer.mask_token
    typed = sum(text.count(mask) for text in texts if text is not None)
    num_cut = typed - encoding.input_ids.count(tokenizer.mask_id)
    if num_cut > 0:
        some = "the" if typed == 1 else f"{num_cut} of the {typed}"
        raise ValueError(
            f"{some} {mask} of the text {'is' if num_cut == 1 else 'are'} cut off: the input has "
            f"{cut.num_tokens_before} tokens, and the limit is {cut.limit}. Shorten the text."
        )


def _hide(
    bert: Pretrained,
    texts: tuple[str, str | None],
    words: Sequence[str] | None,
    seed: int,
    masked_lm_prob: float,
) -> tuple[dict[int, int], dict[int, str], list[int]]:
    """Return the right id at each hidden position, what became of it, and the ids to read."""
    tokenizer = bert.tokenizer
    encoding = bert.tokenize(*texts)
    ids = encoding.input_ids
    refuse_cut_masks(tokenizer, encoding, texts)
    masks = [place for place, token_id in enumerate(ids) if token_id == tokenizer.mask_id]
    if masks:
        right = _with_words(bert, texts, encoding, words, masks)
        return {place: right[place] for place in masks}, dict.fromkeys(masks, "mask"), ids
    if words is not None:
        raise ValueError(
            f"words are given, but the text has no {tokenizer.mask_token}. Write "
            f"{tokenizer.mask_token} instead of each word, or leave the words out."
        )
    masked = mask_text(
        ids,
        encoding.special_tokens_mask,
        mask_id=tokenizer.mask_id,
        vocab_size=tokenizer.vocab_size,
        seed=seed,
        masked_lm_prob=masked_lm_prob,
    )
    places = masked.positions[0].tolist()
    became = [BECAME[action] for action in masked.action[0].tolist()]
    return (
        {place: ids[place] for place in places},
        dict(zip(places, became, strict=True)),
        masked.input_ids[0].tolist(),
    )


def _with_words(
    bert: Pretrained,
    texts: tuple[str, str | None],
    encoding: Encoding,
    words: Sequence[str] | None,
    masks: list[int],
) -> list[int]:
    """Return the ids of the text with its masks filled, [T]; each word is one piece.

    Whole texts are tokenized, since a piece within a text may differ from that of the word alone
    (RoBERTa's includes the space before it).
    """
    mask = bert.tokenizer.mask_token
    if words is None or len(words) != len(masks):
        given = "no word is" if not words else f"{len(words)} {'is' if len(words) == 1 else 'are'}"
        raise ValueError(
            f"the text has {len(masks)} {mask}, but {given} given. Give the right word for each."
        )
    if blank := [number for number, word in enumerate(words, start=1) if not word.strip()]:
        raise ValueError(f"word {blank[0]} is blank. Give the right word for each {mask}.")
    rest = iter(words)

    def fill(text: str) -> str:
        first, *others = text.split(mask)
        return first + "".join(next(rest) + part for part in others)

    filled = [None if text is None else fill(text) for text in texts]
    right = bert.tokenize(filled[0] or "", filled[1]).input_ids
    kept = [place for place in range(len(encoding)) if place not in masks]
    fits = len(right) == len(encoding) and all(
        right[place] == encoding.input_ids[place] for place in kept
    )
    special = set(bert.tokenizer.special_ids) - {bert.tokenizer.unk_id}
    if fits and (
        wrong := [word for word, at in zip(words, masks, strict=True) if right[at] in special]
    ):
        raise ValueError(
            f"{wrong[0]!r} is a special token, which is never the right word at a {mask}. Give a "
            "word of the text."
        )
    if not fits or any(right[place] == bert.tokenizer.unk_id for place in masks):
        cut = ", ".join(f"{word!r} as {' '.join(_pieces(bert, word))}" for word in words)
        raise ValueError(
            f"a {mask} stands for one known piece of the vocabulary, which has {cut}. Write one "
            f"{mask} for each piece."
        )
    return right


def _pieces(bert: Pretrained, word: str) -> list[str]:
    encoding = bert.tokenizer.encode(word)
    pairs = zip(encoding.tokens, encoding.special_tokens_mask, strict=True)
    return [token for token, is_special in pairs if not is_special]
