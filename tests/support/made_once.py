"""Random checkpoints of `transformers`: made once in a process, and copied for each who asks."""

import atexit
import copy
import inspect
import shutil
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import torch
import transformers
from transformers import PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

P = ParamSpec("P")
M = TypeVar("M")


def made_once(make: Callable[P, M]) -> Callable[P, M]:
    """Wrap a function that writes a checkpoint to its argument `folder` and returns the model.

    Asked again with the same other arguments, it copies the files and the model. PyTorch's random
    source is left as the function itself leaves it.
    """
    made: dict[str, tuple[Path, M, torch.Tensor]] = {}
    signature = inspect.signature(make)

    @wraps(make)
    def copied(*args: P.args, **kwargs: P.kwargs) -> M:
        given = signature.bind(*args, **kwargs)
        folder = Path(given.arguments.pop("folder"))
        key = repr(sorted(given.arguments.items()))
        if key not in made:
            place = Path(tempfile.mkdtemp(prefix="bertscope-made-"))
            atexit.register(shutil.rmtree, place, ignore_errors=True)
            given.arguments["folder"] = place
            model = make(*given.args, **given.kwargs)
            made[key] = place, model, torch.get_rng_state()
        place, model, random_state = made[key]
        # Not with the files' times: some readers tell by them whether a file is another one.
        shutil.copytree(place, folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
        torch.set_rng_state(random_state)
        return copy.deepcopy(model)

    return copied


def prefix_of(model_type: str) -> str:
    """Return what the classes of a family begin with in `transformers`."""
    return str(MODEL_MAPPING_NAMES[model_type]).removesuffix("Model")


def write_random(
    folder: Path,
    class_name: str,
    model_type: str,
    *,
    labels: tuple[str, ...] = (),
    seed: int = 0,
    **config: Any,
) -> PreTrainedModel:
    """Write a model with every weight random and return it, in evaluation mode.

    `class_name` is of `transformers`, `config` has fields of its config. The task head of `labels`
    is large: small differences of the states show in its answers.
    """
    torch.manual_seed(seed)
    if labels:
        config = {"id2label": dict(enumerate(labels)), **config}
        config["label2id"] = {label: i for i, label in enumerate(labels)}
    made = transformers.AutoConfig.for_model(model_type, attn_implementation="eager", **config)
    model: PreTrainedModel = getattr(transformers, class_name)(made).eval()
    encoder = {id(parameter) for parameter in model.base_model.parameters()}
    with torch.no_grad():
        for parameter in model.parameters():
            is_head = labels and id(parameter) not in encoder
            parameter.add_(torch.randn(parameter.shape), alpha=0.3 if is_head else 0.1)
        if model_type == "mobilebert":  # it reads a token's neighbours, padding too: 0 in training
            model.get_input_embeddings().weight[0] = 0
        for name, buffer in model.named_buffers():
            if name == "final_logits_bias":
                buffer.add_(torch.randn(buffer.shape))
    model.save_pretrained(folder)
    return model
