"""Whole words that two versions of a text tell apart, on a network that knows nothing."""

import torch

from bertcore import Model
from tests.support.tiny import WORDS


@torch.no_grad()
def telling_words(model: Model, first: str, second: str) -> tuple[str, str]:
    """Return the words of WORDS whose logits at the mask the first version raises and lowers most.

    The model has the tiny vocabulary, each version one mask.
    """
    ids = [model.tokenizer.token_to_id(word) for word in WORDS]
    logits = []
    for text in (first, second):
        encoding = model.tokenize(text)
        state = model.word_states(encoding)[encoding.input_ids.index(model.tokenizer.mask_id)]
        logits.append(model.module.mlm_logits(state)[ids])
    raised = logits[0] - logits[1]
    return WORDS[int(raised.argmax())], WORDS[int(raised.argmin())]
