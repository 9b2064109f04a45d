"""The run that the page shows: a text with some tokens hidden, and the word that is asked about."""

from typing import NamedTuple

import torch

from bertcore import Trace
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.analysis.words.logit_attribution import LogitAttribution, logit_attribution

from ..plots import plain
from ..shell import cache
from ..shell.cache import BertKey


class Run(NamedTuple):
    """A text or pair and the places that are hidden in it; small and hashable."""

    key: BertKey
    text_a: str
    text_b: str | None
    masked: tuple[int, ...]

    @property
    @cache.once
    def trace(self) -> Trace:
        """The trace of the text with these places hidden."""
        bert, texts = cache.opened(self.key), (self.text_a, self.text_b)
        if not self.masked:
            return bert.trace(*texts)
        return bert.trace(*texts, encoding=masked_encoding(bert, *texts, self.masked))

    @property
    def python(self) -> str:
        """The Python of its trace, for `Picture.code`."""
        if not self.masked:
            return ""
        return (
            "\nfrom bertcore.analysis import masked_encoding\n\n"
            f"hidden = masked_encoding(bert, trace.text_a, trace.text_b, {list(self.masked)})\n"
            "trace = bert.trace(trace.text_a, trace.text_b, encoding=hidden)\n"
        )


class AskedWord(NamedTuple):
    """The word whose logit is decomposed."""

    position: int
    word: str | None
    """None for the most probable."""
    against: str | None
    """A word to compare it with, or None."""

    @property
    def sum(self) -> str:
        """What the shares add up to, as Markdown."""
        if self.word is None:
            return "the logit"
        logit = f"the logit of **{plain(self.word)}**"
        return logit if self.against is None else f"{logit} minus that of **{plain(self.against)}**"


@cache.once
def attribution(run: Run, asked: AskedWord) -> LogitAttribution:
    """Return the shares of a word's logit."""
    place, word, against = asked
    return logit_attribution(cache.opened(run.key), run.trace, place, word, against)


@cache.once
@torch.inference_mode()
def best_words(run: Run, position: int, count: int) -> list[str]:
    """Return the most probable pieces at a token, the best first."""
    bert = cache.opened(run.key)
    state = run.trace.word_states[position].to(bert.device, bert.dtype)
    logits = bert.module.mlm_logits(state)[: bert.tokenizer.vocab_size]
    best = logits.topk(min(count, len(logits))).indices.tolist()
    return [bert.tokenizer.id_to_token(word_id) for word_id in best]
