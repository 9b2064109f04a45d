"""Training: the engine, pretraining, fine-tuning, the tasks, and how answers are scored."""

from typing import TYPE_CHECKING

from bertcore.base.public import deferred

if TYPE_CHECKING:
    from bertcore.training import finetuning, grammar, pretraining, tasks
else:
    __getattr__, __dir__, __all__ = deferred(__name__, __file__)
