"""A checkpoint whose token table is debiased along a direction."""

import copy
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch

from bertcore.bert import Bert, with_parts
from bertcore.bias.direction import find_direction
from bertcore.bias.erasure import equalise, neutralise
from bertcore.bias.own_sets import DirectionWords
from bertcore.bias.word_association import table_vectors
from bertcore.model import Model


@dataclass(frozen=True, slots=True)
class Debiased:
    """The changed checkpoint and its changes."""

    bert: Bert
    num_neutralised: int
    """Number of rows of the token table that lost their part along the direction."""
    equalised: tuple[tuple[str, str], ...]
    """Pairs that differ only along the direction."""
    explained: float
    """Share of the variance within the pairs that the direction explains."""


def debias_table(bert: Model, words: DirectionWords) -> Debiased:
    """Neutralise and equalise the token table along a direction ("hard debiasing").

    Every piece except those of the gendered words loses its part along the direction and keeps its
    length; pairs of single pieces are made to differ only along it. The decoder of the masked-word
    head shares the table, so its answers change, too; the layers are unchanged, including what they
    have learned to do with the rest of the vectors.

    Args:
        bert: A checkpoint of the BERT family; it is not changed.
        words: Pairs that define the direction, and further gendered words that keep theirs.

    ValueError if the layers of the architecture cannot be changed, or a word is unknown.

    Source: Bolukbasi et al. 2016, section 6. On what it hides rather than removes: Gonen and
    Goldberg 2019.
    """
    changed = copy.deepcopy(with_parts(bert).module)
    first, second = (table_vectors(bert, [pair[side] for pair in words.pairs]) for side in (0, 1))
    direction = find_direction(first, second)
    tokenizer = bert.tokenizer
    gendered = {
        token_id
        for word in chain(*words.pairs, *words.probe)
        for token_id in tokenizer.encode_word(word)
    }
    table = changed.token_table.detach().float().cpu().numpy().astype(np.float64)
    special = set(tokenizer.special_ids)
    neutral = [i for i in range(tokenizer.vocab_size) if i not in gendered and i not in special]
    # A row of padding or of an unused piece may be zero, and has no length to keep.
    neutral = [i for i in neutral if table[i].any()]
    table[neutral] = neutralise(table[neutral], direction)
    split = [(pair, [tokenizer.encode_word(word) for word in pair]) for pair in words.pairs]
    whole = [(pair, ids) for pair, ids in split if all(len(each) == 1 for each in ids)]
    if whole:
        left, right = ([ids[side][0] for _, ids in whole] for side in (0, 1))
        table[left], table[right] = equalise(table[left], table[right], direction)
    with torch.no_grad():
        rows = torch.from_numpy(table).to(changed.token_table)
        changed.token_table.copy_(rows)
    return Debiased(
        Bert(changed, tokenizer),
        len(neutral),
        tuple(pair for pair, _ in whole),
        float(direction.explained[0]),
    )
