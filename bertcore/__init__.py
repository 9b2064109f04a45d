"""BertScope's core: BERT and its relatives, with every activation named.

Dimension letters in all shapes: B batch, T tokens, D hidden, H heads, K head width,
F feed-forward, V vocabulary, L layers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bertcore.architecture.config import BertConfig
    from bertcore.bert import Bert
    from bertcore.interventions import Changes
    from bertcore.loading import load
    from bertcore.model import Model, NextSentence
    from bertcore.tokenizer import Encoding, Tokenizer
    from bertcore.trace import Trace

__version__ = "0.2.1"

# The module of each public name, imported at its first use, so that `bertscope --help` does not
# wait for torch.
_HOMES = {
    "Bert": "bertcore.bert",
    "BertConfig": "bertcore.architecture.config",
    "Changes": "bertcore.interventions",
    "Encoding": "bertcore.tokenizer",
    "Model": "bertcore.model",
    "NextSentence": "bertcore.model",
    "Tokenizer": "bertcore.tokenizer",
    "Trace": "bertcore.trace",
    "load": "bertcore.loading",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    """Import a public name from its module (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'bertcore' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__})
