"""LoRA adapters on tiny checkpoints, written by peft itself."""

from pathlib import Path
from typing import Any

import peft
import torch
import transformers

TASKS = {
    None: "AutoModelForMaskedLM",
    "SEQ_CLS": "AutoModelForSequenceClassification",
    "TOKEN_CLS": "AutoModelForTokenClassification",
    "QUESTION_ANS": "AutoModelForQuestionAnswering",
    "FEATURE_EXTRACTION": "AutoModel",
}
"""peft's task_type -> the class that it is trained as."""
_WITHOUT_LABELS = (None, "QUESTION_ANS", "FEATURE_EXTRACTION")


def make_adapter(
    base: Path,
    folder: Path,
    task_type: str | None = "SEQ_CLS",
    *,
    saves_table: bool | str = False,
    new_rows: int = 0,
    **options: Any,
) -> Any:
    """Write a LoRA adapter with random matrices on a base; return peft's merged model.

    The base is a checkpoint folder, without a head for the task, one of TASKS. `saves_table` says
    whether the token table is saved too ("auto": as peft decides), which is made larger by
    `new_rows` before. The options are of peft.LoraConfig.
    """
    torch.manual_seed(2)
    model = _resized(base, task_type, new_rows)
    settings = {"r": 4, "lora_alpha": 12, "task_type": task_type, **options}
    adapted = peft.get_peft_model(model, peft.LoraConfig(**settings))
    with torch.no_grad():
        for name, parameter in adapted.named_parameters():
            if parameter.requires_grad or "lora_" in name:  # B begins as 0
                parameter.add_(torch.randn(parameter.shape), alpha=0.2)
    adapted.save_pretrained(folder, save_embedding_layers=saves_table)
    return adapted.merge_and_unload().eval()


def reopened(base: Path, folder: Path, task_type: str | None, new_rows: int = 0) -> Any:
    """Return a model of peft opened from an adapter's folder on its base, not merged."""
    model = _resized(base, task_type, new_rows)
    return peft.PeftModel.from_pretrained(model, folder).eval()


def _resized(base: Path, task_type: str | None, new_rows: int) -> Any:
    names = {} if task_type in _WITHOUT_LABELS else {"num_labels": 3}
    model = getattr(transformers, TASKS[task_type]).from_pretrained(base, **names)
    if new_rows:
        model.resize_token_embeddings(model.config.vocab_size + new_rows)
    return model


def as_pickle(folder: Path) -> None:
    """Leave only a pickle of an adapter's weights."""
    torch.save({}, folder / "adapter_model.bin")
    (folder / "adapter_model.safetensors").unlink()
