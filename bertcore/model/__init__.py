"""A BERT and its relatives: shapes, tokenizers, networks, checkpoint files, traces, likelihoods."""

from typing import TYPE_CHECKING

from bertcore.base.public import deferred

if TYPE_CHECKING:
    from bertcore.model import checkpoints, lowlevel, objectives, tokenizer
else:
    __getattr__, __dir__, __all__ = deferred(__name__, __file__)
