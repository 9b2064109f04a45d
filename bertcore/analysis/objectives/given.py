"""The input of an objective: a text's row, its vocabulary, and other texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.shared.inputs import require_finite_logits
from bertcore.data.sentences import split_sentences
from bertcore.model.model import Model
from bertcore.model.objectives.attention_masks import Direction
from bertcore.model.objectives.draw import Draw, Given
from bertcore.model.objectives.row import IGNORED, Corrupted, Flags, Ids, Pieces, Row
from bertcore.model.objectives.table import Objective
from bertcore.model.others.families import MASKED
from bertcore.model.others.model import OtherModel
from bertcore.model.tokenizer import Encoding

NUM_SENTINELS = 100
"""T5's number of sentinels; as many are added if a vocabulary has none."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A text for one objective, and what the network needs besides its ids."""

    given: Given
    segment_ids: Ids
    """[T]"""
    names: tuple[str, ...]
    """Names of the sentinels added to the end of the vocabulary."""


def prepare(
    bert: Model,
    entry: Objective,
    text: str,
    text_pair: str | None = None,
    *,
    others: Sequence[str] = (),
    seed: int = 0,
    direction: Direction | None = None,
) -> Prepared:
    """Return a text or a pair as the input of an objective.

    If a pair is needed and there is one text, it is split between two of its sentences. The
    checkpoint acts as ELECTRA's generator if it predicts masked words.

    ValueError if a pair is needed and there is one sentence, or the vocabulary has no mask token or
    no end token and the objective needs it.
    """
    tokenizer = bert.tokenizer
    if entry.needs_mask and tokenizer.mask_id < 0:
        raise ValueError(
            "this objective hides words behind a mask token, and this vocabulary has none. Open "
            "a BERT-like checkpoint."
        )
    if entry.needs_pair and not text_pair and direction in (None, "prefix"):
        text, text_pair = _cut(text, seed)
    encoding = bert.tokenize(text, text_pair)
    ids = np.array(encoding.input_ids, dtype=np.int64)
    is_special = np.array(encoding.special_tokens_mask, dtype=bool)
    segment_ids = np.array(encoding.segment_ids, dtype=np.int64)
    words = np.array(encoding.word_ids)
    starts_word = np.asarray((words != np.append(-2, words[:-1])) | (words < 0))
    row = Row(ids, is_special, starts_word, _starts_sentence(encoding, text, text_pair))
    pieces, names = _pieces(bert, ids[is_special])
    if entry.name == "t5-spans" and pieces.sep_id < 0:
        raise ValueError(
            "T5 texts end with an end token, and this vocabulary has none. Open another checkpoint."
        )
    of_b = np.flatnonzero(np.array(encoding.text_ids) == 1)
    sentences = [one for other in others for one in split_sentences(" ".join(other.split()))]
    given = Given(
        row=row,
        pieces=pieces,
        second_begins=int(of_b[0]) if len(of_b) else None,
        others=tuple(np.array(one, dtype=np.int64) for one in tokenizer.encode_ids(sentences))
        if entry.needs_pair and sentences
        else (),
        generator=_Generator(bert, segment_ids)
        if entry.name == "replaced-tokens" and predicts_masked_words(bert)
        else None,
        direction=direction,
    )
    return Prepared(given, segment_ids, names)


def segments_of(prepared: Prepared, drawn: Draw) -> Ids:
    """Return the segment ids of the encoder's input, [T]."""
    if drawn.judged is not None:
        return prepared.segment_ids[drawn.judged.like]
    return prepared.segment_ids


def _cut(text: str, seed: int) -> tuple[str, str]:
    """Split a text in two, between sentences."""
    sentences = split_sentences(" ".join(text.split()))
    if len(sentences) < 2:
        raise ValueError("this objective needs a pair: write a text B, or a second sentence.")
    place = Random(seed).randrange(1, len(sentences))
    return " ".join(sentences[:place]), " ".join(sentences[place:])


def _starts_sentence(encoding: Encoding, text: str, text_pair: str | None) -> Flags:
    """Return whether each token is the first of a sentence, [T]."""
    found = np.zeros(len(encoding), dtype=bool)
    for number, one in enumerate((text, text_pair or "")):
        places = [i for i, owner in enumerate(encoding.text_ids) if owner == number]
        begins = np.array([encoding.offsets[i][0] for i in places], dtype=np.int64)
        end = 0
        for sentence in split_sentences(one):
            start = one.find(sentence, end)
            end = max(start, end) + len(sentence)
            # The first token that begins there, or later: white space has no token.
            later = np.flatnonzero(begins >= max(start, 0))
            if len(later):
                found[places[int(later[0])]] = True
    return found


def _pieces(bert: Model, added: Ids) -> tuple[Pieces, tuple[str, ...]]:
    """Return what objectives need of the vocabulary, and the names of added sentinels."""
    tokenizer = bert.tokenizer
    own = [tokenizer.token_to_id(f"<extra_id_{n}>") for n in range(NUM_SENTINELS)]
    sentinels = tuple(one for one in own if one is not None)
    names: tuple[str, ...] = ()
    if not sentinels:
        sentinels = tuple(range(tokenizer.vocab_size, tokenizer.vocab_size + NUM_SENTINELS))
        names = tuple(f"<extra_id_{n}>" for n in range(NUM_SENTINELS))
    last = int(added[-1]) if len(added) else -1
    start = tokenizer.cls_id
    if isinstance(bert, OtherModel) and bert.module.other.has_decoder:
        start = bert.module.model.config.decoder_start_token_id or 0
    pieces = Pieces(
        size=tokenizer.vocab_size,
        mask_id=tokenizer.mask_id,
        cls_id=start if start >= 0 else max(last, 0),
        sep_id=tokenizer.sep_id if tokenizer.sep_id >= 0 else last,
        sentinel_ids=sentinels,
    )
    return pieces, names


def predicts_masked_words(bert: Model) -> bool:
    """Return whether a checkpoint predicts a word from a mask at its position, as BERT does."""
    if "mlm" not in bert.capabilities or bert.objective == "plm":  # of a place alone
        return False
    return not isinstance(bert, OtherModel) or bert.module.other.words == MASKED


@dataclass(frozen=True, slots=True, eq=False)
class _Generator:
    """A checkpoint as ELECTRA's generator."""

    bert: Model
    segment_ids: Ids

    def __call__(self, hidden: Corrupted) -> NDArray[np.floating]:
        places = np.flatnonzero(hidden.labels != IGNORED)
        logits = masked_word_logits(self.bert, hidden.input_ids, self.segment_ids, places)
        require_finite_logits([logits])  # the highest of NaN would be the first piece, [PAD]
        found: NDArray[np.floating] = logits[:, : self.bert.tokenizer.vocab_size].numpy()
        return found


@torch.no_grad()
def masked_word_logits(bert: Model, input_ids: Ids, segment_ids: Ids, places: Ids) -> torch.Tensor:
    """Return the vocabulary's logits at some places of a row, float32 [N, V]."""
    ids = torch.from_numpy(input_ids)[None].to(bert.device)
    segments = torch.from_numpy(segment_ids)[None].to(bert.device)
    states = bert.module.word_states(ids, segments)[0, torch.from_numpy(places).to(bert.device)]
    return bert.module.mlm_logits(states).float().cpu()
