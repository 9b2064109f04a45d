"""Tiny fine-tuned checkpoints of each kind, with heads large enough for mistakes to show."""

from pathlib import Path

import torch

from bertcore.tasks.model import start_task_model
from tests.support.tiny import tiny_bert

LABELS = {
    "classify": ("bad", "good", "so-so"),
    "pair": ("no", "yes"),
    "tag": ("O", "B-X", "I-X"),
    "multilabel": ("insult", "threat", "toxic"),
}


def save_task_checkpoint(folder: Path, task: str, *, seed: int = 1) -> Path:
    """Write a tiny checkpoint for a task, its encoder drawn with `seed`; return its folder."""
    start = tiny_bert(seed=seed).save(folder / f"start-{seed}")
    generator = torch.Generator().manual_seed(3)
    model = start_task_model(start, task=task, labels=LABELS.get(task, ()), generator=generator)
    with torch.no_grad():
        model.module.head.classifier.weight.normal_(generator=generator)
        model.module.head.classifier.bias.normal_(generator=generator)
    return model.save(folder / task)
