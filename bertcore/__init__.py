"""BertScope's core: BERT and its relatives, with every activation named.

Dimension letters in all shapes: B batch, T tokens, D hidden, H heads, K head width,
F feed-forward, V vocabulary, L layers.
"""

from typing import TYPE_CHECKING

from bertcore.base.public import deferred

__version__ = "0.2.1"

if TYPE_CHECKING:
    from bertcore import analysis, configs, data, lessons, model, training
    from bertcore.model.architecture.config import BertConfig, shape_of
    from bertcore.model.bert import Bert
    from bertcore.model.interventions import Changes
    from bertcore.model.loading import load, untrained
    from bertcore.model.model import Model, NextSentence
    from bertcore.model.tokenizer import Encoding, Tokenizer
    from bertcore.model.trace import Trace
    from bertcore.training.train import finetune, open_task, pretrain
else:  # at first use, so that `bertscope --help` does not wait for torch
    __getattr__, __dir__, __all__ = deferred(__name__, __file__)
