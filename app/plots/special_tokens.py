"""The checkpoint's own special tokens in names and captions that mention BERT's.

Names are written as for BERT ("attends to [CLS]"); a RoBERTa has <s>, </s> and <mask> there.
"""

import json
from functools import lru_cache
from typing import NamedTuple

from bertcore.model.tokenizer import Tokenizer

from . import theme
from .figure import Figure
from .formats import plain


class SpecialTokens(NamedTuple):
    """The tokens that stand for BERT's [CLS], [SEP] and [MASK]."""

    first: str = "[CLS]"
    """The first token that is added to a text."""
    others: str = "[SEP]"
    """The others that are added, with commas between."""
    mask: str = "[MASK]"

    @property
    def added(self) -> str:
        """Both kinds of added tokens, named once."""
        return self.first if self.first == self.others else f"{self.first} and {self.others}"


BERT = SpecialTokens()
NONE = "a special token"  # stands for the special tokens of a tokenizer that adds none (GPT-2)


@lru_cache(maxsize=16)  # each caption of a page asks
def marks_of(tokenizer: Tokenizer) -> SpecialTokens:
    """Return the special tokens that a tokenizer adds to a pair, and its mask."""
    encoding = tokenizer.encode("a", "b")
    pairs = zip(encoding.tokens, encoding.special_tokens_mask, strict=True)
    added = [token for token, is_added in pairs if is_added]
    others = ", ".join(dict.fromkeys(added[1:]))
    return SpecialTokens(added[0] if added else NONE, others or NONE, tokenizer.mask_token or NONE)


def own_text(text: str, marks: SpecialTokens) -> str:
    """Return one of our texts with the checkpoint's special tokens, as plain text.

    >>> own_text("attends to [CLS]", SpecialTokens("<s>", "</s>", "<mask>"))
    'attends to <s>'
    """
    for ours, theirs in zip(BERT, marks, strict=True):
        text = text.replace(ours, theirs)
    return text


def own_markdown(text: str, marks: SpecialTokens) -> str:
    """Return one of our texts in Markdown with the checkpoint's special tokens.

    >>> own_markdown(r"the \\[SEP\\]", SpecialTokens("<s>", "</s>", "<mask>"))
    'the \\\\<\\\\/s\\\\>'
    """
    for ours, theirs in zip(BERT, marks, strict=True):
        text = text.replace(plain(ours), plain(theirs))
    return text


def filled_markdown(template: str, marks: SpecialTokens, /, **values: object) -> str:
    """Return one of our templates in Markdown, filled, with the checkpoint's special tokens.

    >>> filled_markdown(r"{n} of \\[MASK\\]", SpecialTokens(mask="{mask}"), n=2)
    '2 of \\\\{mask\\\\}'
    """
    for ours, theirs in zip(BERT, marks, strict=True):
        own = plain(theirs).replace("{", "{{").replace("}", "}}")
        template = template.replace(plain(ours), own)
    return template.format(**values)


def relabelled(fig: Figure, marks: SpecialTokens) -> Figure:
    """Return a figure of our own names, without visitors' tokens, with its own special tokens."""
    if marks == BERT:
        return fig
    escaped = SpecialTokens(*(json.dumps(theme.escape(mark))[1:-1] for mark in marks))
    drawn = json.loads(own_text(fig.to_json(), escaped))
    drawn["layout"].pop("template")
    own = Figure(drawn["data"], drawn["layout"])
    own.stages = drawn.get("frames", [])
    return own
