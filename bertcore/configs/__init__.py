"""Settings of training runs as checked dataclasses.

The options of `bertscope pretrain` and `bertscope finetune` are made from their fields: an option
has the field's name, type and default, and the docstring under it as its help. Nothing here imports
torch, so that `bertscope --help` answers at once.
"""

from bertcore.configs.columns import Columns
from bertcore.configs.data import DataConfig
from bertcore.configs.distill import DistillConfig
from bertcore.configs.finetune import FinetuneConfig
from bertcore.configs.optimizer import OptimizerConfig
from bertcore.configs.train import TrainConfig

__all__ = [
    "Columns",
    "DataConfig",
    "DistillConfig",
    "FinetuneConfig",
    "OptimizerConfig",
    "TrainConfig",
]
