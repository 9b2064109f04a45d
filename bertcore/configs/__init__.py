"""Settings as dataclasses, from whose fields the options of `bertscope` are made.

An option has the field's name, type and default, and the docstring under it as its help. Nothing
here imports torch, so that `bertscope --help` answers at once.
"""

from bertcore.base.public import imported
from bertcore.configs.columns import Columns
from bertcore.configs.data import DataConfig
from bertcore.configs.distill import DistillConfig
from bertcore.configs.encode import EncodeSettings
from bertcore.configs.finetune import FinetuneConfig
from bertcore.configs.maps import TsneSettings, UmapSettings
from bertcore.configs.optimizer import OptimizerConfig
from bertcore.configs.train import TrainConfig

__all__ = imported(globals())
