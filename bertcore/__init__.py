"""BertScope's core: BERT and its relatives, with every activation named.

Dimension letters in all shapes: B batch, T tokens, D hidden, H heads, K head width,
F feed-forward, V vocabulary, L layers.
"""

from typing import TYPE_CHECKING

from bertcore.base.public import deferred

__version__ = "0.2.1"

if TYPE_CHECKING:
    from bertcore import (
        analysis,
        bias,
        checkpoints,
        configs,
        corpus,
        data,
        finetuning,
        grammar,
        lessons,
        lowlevel,
        objectives,
        papers,
        pretraining,
        probes,
        tasks,
        tokenizer,
    )
    from bertcore.architecture.config import BertConfig, shape_of
    from bertcore.bert import Bert
    from bertcore.interventions import Changes
    from bertcore.loading import load, untrained
    from bertcore.model import Model, NextSentence
    from bertcore.tokenizer import Encoding, Tokenizer
    from bertcore.trace import Trace
    from bertcore.train import finetune, open_task, pretrain
else:  # at first use, so that `bertscope --help` does not wait for torch
    __getattr__, __dir__, __all__ = deferred(__name__, __file__)
