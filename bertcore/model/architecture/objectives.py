"""The pretraining objectives by name, the rows that each is trained on, and the fraction masked."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

MASKED_LM_PROB = 0.15
"""The fraction of the tokens that BERT's pretraining hides (Devlin et al. 2019, section 3.1)."""

RowKind = Literal["pairs", "ordered", "swapped", "packed"]
"""Sentence pairs, of which about half have a random second part; pairs that follow each other; such
pairs, half of which are exchanged; or rows packed full of text."""
OBJECTIVES: Mapping[str, RowKind] = MappingProxyType(
    {
        "mlm+nsp": "pairs",
        "mlm": "packed",
        "wwm": "packed",
        "span-sbo": "packed",
        "causal": "packed",
        "unilm": "ordered",
        "mlm+sop": "swapped",
        "rtd": "packed",
        "plm": "packed",
        "denoise-t5": "packed",
        "denoise-bart": "packed",
        "mass": "packed",
    }
)
"""Pretraining objectives and the rows that they are trained on."""
