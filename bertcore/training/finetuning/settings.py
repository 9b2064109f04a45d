"""Everything that defines a fine-tuning, stored in its folder so that it can be resumed."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bertcore.base.device import compute_format
from bertcore.configs import DistillConfig
from bertcore.configs.columns import USUAL, Columns
from bertcore.configs.finetune import (
    ALL,
    BALANCED,
    DOC_STRIDE,
    NONE,
    TRAINED,
    FinetuneConfig,
    default_rate,
    layers_trained,
)
from bertcore.data.labels import balanced_weights
from bertcore.model.checkpoints.source import DEFAULT
from bertcore.model.loading import read_size
from bertcore.model.network.task_heads import TaskNetwork
from bertcore.model.network.task_module import TaskModule
from bertcore.model.others.task_network import OtherTaskNetwork
from bertcore.training.finetuning.data.division import Division
from bertcore.training.finetuning.data.hub_data import is_hub_name, parse_hub_name
from bertcore.training.finetuning.data.swap_words import Swapping, check_tagged
from bertcore.training.tasks import Task, TaskData, find_task
from bertcore.training.tasks.model import TaskModel

SETTINGS_FILE, RUNS_FOLDER = "finetune.json", "runs"
RESULT_FILE, METRICS_FILE = "result.json", "metrics.jsonl"
BEST_FOLDER, EPOCHS_FOLDER = "best", "checkpoints"
"""What a fine-tuning writes: the first two in its folder, the others in that of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that defines a fine-tuning; stored in its folder for `--resume`."""

    task: str
    train: str
    dev: str
    learning_rates: tuple[float, ...]
    """Each is tried with each seed."""
    seeds: tuple[int, ...]
    config: FinetuneConfig
    """Of every run, but for learning rate and seed."""
    checkpoint: str = DEFAULT
    columns: Columns = USUAL
    skip_bad_rows: bool = False
    new_head: bool = False
    command: str = ""
    layers: tuple[int, ...] | None = None
    """Of the checkpoint, from 0: those with which the model begins; None: all."""
    teacher: str | None = None
    """A checkpoint fine-tuned for the task, to learn from beside the labels."""
    distill: DistillConfig | None = None
    """The weights of the losses with a teacher."""
    held_out: float | None = None
    """Fraction of `train` to score on; `dev` is "" then."""
    sample: int | None = None
    """Examples of `train` to use, drawn at random; None takes all."""
    swap: Swapping | None = None
    """Words that are swapped in the training texts."""
    balance: str | None = None
    """Column of the training data; its groups and the labels are made independent by weights."""
    bias_model: str | None = None
    """A checkpoint fine-tuned for the task; the surer it is of an example, the less that weighs."""
    is_untrained: bool = False
    """Whether the model begins with random weights, in the shape of the checkpoint."""
    allow_pickle: bool = False
    """Whether a checkpoint's pickled weights may be read."""

    @property
    def division(self) -> Division | None:
        """The division of `train`; None: all of it is used."""
        if self.held_out is None and self.sample is None:
            return None
        return Division(held_out=self.held_out, sample=self.sample, seed=self.seeds[0])

    @property
    def runs(self) -> list[FinetuneConfig]:
        """The settings of each run, in order of execution."""
        return [
            replace(self.config, learning_rate=rate, seed=seed)
            for rate in self.learning_rates
            for seed in self.seeds
        ]

    def computing_in(self, dtype: str) -> "Settings":
        """Return the same settings with another number format."""
        return replace(self, config=replace(self.config, dtype=dtype))


def make_settings(
    *,
    task: str,
    train: Path,
    dev: Path | None,
    checkpoint: str = DEFAULT,
    learning_rates: Sequence[float] = (),
    seeds: Sequence[int] = (1,),
    max_seq_length: int | None = None,
    layers: Sequence[int] | None = None,
    teacher: str | None = None,
    distill: DistillConfig | None = None,
    **options: Any,
) -> Settings:
    """Return settings, with defaults for the task and the checkpoint filled in.

    Args:
        task, train, dev: The task, and the data to train and to score on: files, or names as for
            `fetch_hub_data`. `dev` is None with `held_out`.
        max_seq_length: Longest input in tokens; None takes 128 (qa: 384) or the number of
            positions, if lower.
        layers: Layers of the checkpoint with which the model starts; None takes all.
        teacher: A fine-tuned checkpoint to learn from; None: learn only from labels.
        distill: The weights of the distillation losses; None takes `DistillConfig.for_task`.

    ValueError if a setting is out of range or meaningless for the task. RuntimeError if the files
    of the checkpoint are damaged.
    """
    of_run = {field.name for field in fields(FinetuneConfig)}
    config = {name: value for name, value in options.items() if name in of_run}
    others = {name: value for name, value in options.items() if name not in of_run}
    if (dev is None) == (others.get("held_out") is None):
        raise ValueError("give either a file to score on (dev) or a fraction to hold out.")
    Division(held_out=others.get("held_out"), sample=others.get("sample"))  # checks the values
    chosen = find_task(task)
    shape, longest = read_size(checkpoint, allow_pickle=bool(others.get("allow_pickle")))
    length = min(chosen.default_length, longest) if max_seq_length is None else max_seq_length
    if length > longest:
        raise ValueError(
            f"max_seq_length is {length}, but this checkpoint reads at most {longest} tokens. "
            "Lower it."
        )
    feature_based = bool(config.get("feature_based"))
    rates = tuple(learning_rates) or (default_rate(shape, feature_based=feature_based),)
    if len(set(rates)) < len(rates) or len(set(seeds)) < len(seeds) or not seeds:
        raise ValueError("name at least one learning rate and one seed, each only once.")
    settings = Settings(
        task=task,
        train=_lasting_data(train),
        dev="" if dev is None else _lasting_data(dev),
        learning_rates=rates,
        seeds=tuple(seeds),
        config=FinetuneConfig(
            learning_rate=rates[0], seed=seeds[0], max_seq_length=length, **config
        ),
        checkpoint=_lasting(checkpoint),
        layers=None if layers is None else tuple(layers),
        teacher=None if teacher is None else _lasting(teacher),
        distill=(distill or DistillConfig.for_task()) if teacher else None,
        **others,
    )
    if settings.bias_model is not None:
        settings = replace(settings, bias_model=_lasting(settings.bias_model))
    if settings.swap is not None and task == "tag":
        check_tagged(settings.swap.pairs)
    run, has_balance, has_bias_model = settings.config, settings.balance, settings.bias_model
    weighs = "balance" if has_balance else "bias_model" if has_bias_model else ""
    phase = settings.distill and settings.distill.layer_phase
    refused = {
        "random weights cannot be combined with --student-layers or feature_based, which use what "
        "a checkpoint has learned. Leave one of them out.": settings.is_untrained
        and (layers is not None or feature_based),
        "patience would end a run that copies only layers at first, since its head learns nothing "
        "meanwhile. Leave patience or layer_phase out.": phase and run.patience is not None,
        "features name what a BiLSTM reads. Set feature_based, too.": config.get("features")
        and not feature_based,
        f"doc_stride is {run.doc_stride}, but the task {task!r} does not cut texts into windows; "
        "only qa does. Leave it out.": run.doc_stride != DOC_STRIDE and task != "qa",
        f"{weighs} weighs examples by their single label, but the task {task!r} has none. It is "
        "for classify and pair.": weighs and task not in ("classify", "pair"),
        f"{weighs} and class weights both weigh the examples. Leave one of the two out.": weighs
        and run.class_weights is not None,
        f"{weighs} weighs labels, but a teacher's answers are not weighed. Leave one of the two "
        "out.": weighs and teacher,
        "a text with swapped words belongs to another group than its row states, so balance would "
        "weigh it wrongly. Leave balance or swap_words out.": has_balance and settings.swap,
        "balance and bias_model both weigh the examples. Leave one out.": has_balance
        and has_bias_model,
        f"two of the learning rates {', '.join(map(repr, rates))} are the same in the six digits "
        "used in the name of a run's folder. Leave one of them out.": len(
            {run_name(rate, 0) for rate in rates}
        )
        < len(rates),
    }
    for sentence, is_refused in refused.items():
        if is_refused:
            raise ValueError(sentence)
    for run in settings.runs:
        check_for_task(run, chosen)
    return settings


def run_name(learning_rate: float, seed: int) -> str:
    """Return the name of a run's folder.

    >>> run_name(3e-4, 1)
    'lr-0.0003-seed-1'
    """
    return f"lr-{learning_rate:g}-seed-{seed}"


def settings_of(values: dict[str, Any]) -> Settings:
    """Return settings from the content of their JSON file.

    ValueError, KeyError or TypeError if they are not that; RuntimeError if they are of a
    fine-tuning that this version cannot resume.
    """
    config = dict(values.pop("config"))
    if isinstance(config.get("class_weights"), list):
        config["class_weights"] = tuple(config["class_weights"])
    for name in ("learning_rates", "seeds"):
        values[name] = tuple(values[name])
    values["columns"] = Columns(**values["columns"])
    if values.get("layers") is not None:
        values["layers"] = tuple(values["layers"])
    if values.get("distill") is not None:
        values["distill"] = DistillConfig(**values["distill"])
    if (swap := values.get("swap")) is not None:
        _check_removed("swap_mode", swap.pop("mode", "augment"), "augment")
        pairs = tuple((first, second) for first, second in swap.pop("pairs"))
        values["swap"] = Swapping(**swap, pairs=pairs)
    _check_removed("direction_penalty", values.pop("direction", None), None)
    _check_removed("bias_focus", values.pop("bias_focus", 2.0), 2.0)
    return Settings(**values, config=FinetuneConfig(**config))


def _check_removed(option: str, value: object, usual: object) -> None:
    """Reject what an option that 0.3.0 removed asked for, unless it is what is done without it."""
    if value != usual:
        raise RuntimeError(
            f"this fine-tuning was started with {option}, which 0.3.0 removed, so it cannot be "
            "resumed as it began. Start a new one."
        )


def _lasting_data(path: Path) -> str:
    text = str(path)
    return str(parse_hub_name(text)) if is_hub_name(text) else str(path.expanduser().resolve())


def _lasting(checkpoint: str) -> str:
    """Return the name of a checkpoint that is valid from any working folder."""
    path = Path(checkpoint).expanduser()
    return str(path.resolve()) if checkpoint != DEFAULT and path.exists() else checkpoint


def check_new_folder(folder: Path) -> None:
    """Reject a folder that is in use; ValueError if it is a file or not empty."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--out {str(folder)!r} is a file. Name a new folder.")
    if (folder / SETTINGS_FILE).is_file():
        raise ValueError(
            f"--out {str(folder)!r} already has a fine-tuning run. Continue it with --resume, or "
            "name a new folder."
        )
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(f"--out {str(folder)!r} is not empty. Name a new folder.")


logger = logging.getLogger(__name__)


def training_dtype(model: TaskModel, dtype: str, device: torch.device) -> str:
    """Return the number format of training steps: that of `compute_format`, or float32.

    The code of some architectures in `transformers` fails in bfloat16; a warning is logged if that
    was asked for.
    """
    module = model.module
    if not isinstance(module, OtherTaskNetwork) or not module.network.other.only_float32:
        return compute_format(dtype, device).dtype
    if dtype == "bfloat16":
        name = module.network.other.name
        logger.warning("%s runs in float32 only, in transformers: not in bfloat16.", name)
    return "float32"


def check_for_task(config: FinetuneConfig, task: Task) -> None:
    """Reject settings that do not apply to a task; ValueError if there are some."""
    if config.metric is not None and config.metric not in task.metrics:
        raise ValueError(
            f"metric is {config.metric!r}; the task {task.name!r} has {', '.join(task.metrics)}."
        )
    if config.class_weights is not None and not task.has_labels:
        raise ValueError(f"the task {task.name!r} has no classes, so it takes no class weights.")
    if config.class_weights is not None and not task.weighs_classes:
        raise ValueError(
            f"class weights need one label per text; the task {task.name!r} predicts each label "
            "separately. Leave class_weights out."
        )
    find_task(task.name, features=config.features_read, pooling=config.pooling)


def check_for_labels(config: FinetuneConfig, model: TaskModel) -> None:
    """Reject settings that do not fit the number of labels.

    ValueError if there are more or fewer class weights, or the metric is for two labels.
    """
    labels = model.labels
    model.task.check_metric(config.metric or model.task.metrics[0], labels)
    weights = config.class_weights
    if isinstance(weights, tuple) and len(weights) != len(labels):
        raise ValueError(
            f"class_weights has {len(weights)} numbers, but there are {len(labels)} labels: "
            f"{', '.join(labels[:20])}. Give one for each, in this order."
        )


def choose_trained(module: TaskModule, config: FinetuneConfig) -> None:
    """Let only the chosen parts of the encoder learn, and the head and the pooler if there is one.

    ValueError if the network has no such parts.

    Source: biases alone: Ben Zaken et al. 2022, "BitFit".
    """
    if config.trained == ALL and not config.keeps_encoder:
        return
    layers, wanted = layers_trained(config.trained), ""
    if config.keeps_encoder:
        wanted = "(?!)"  # nothing
    elif not isinstance(module, TaskNetwork):
        raise ValueError(
            f"trained is {config.trained!r}, but this architecture runs on code of transformers, "
            f"whose parts have other names. Leave it out, or choose {NONE!r}."
        )
    elif layers is None:
        inside = r"network\.layers\.\d+\."
        wanted = {
            "attention": rf"{inside}attention\.",
            "feed-forward": rf"{inside}feed_forward\.",
            "biases": r".*\bbias$",
        }[config.trained]
    else:
        end, count = layers
        whole = module.network.config.num_hidden_layers
        if module.network.config.share_layers or count > whole:
            why = "shares one layer" if module.network.config.share_layers else f"has {whole}"
            raise ValueError(
                f"trained is {config.trained!r}, but this checkpoint {why}. Name fewer layers, or "
                f"choose one of {', '.join(TRAINED)}."
            )
        numbers = range(whole - count, whole) if end == "top" else range(count)
        wanted = rf"network\.layers\.({'|'.join(map(str, numbers))})\."
    of_encoder = [name for name, _ in module.named_parameters() if not module.is_of_head(name)]
    if not config.keeps_encoder and not any(re.match(wanted, name) for name in of_encoder):
        raise ValueError(
            f"trained is {config.trained!r}, and this encoder has none. Choose another one of "
            f"{', '.join(TRAINED)}."
        )
    for name, parameter in module.named_parameters():
        parameter.requires_grad = module.is_of_head(name) or bool(re.match(wanted, name))


def class_weights(
    config: FinetuneConfig, train: TaskData, labels: tuple[str, ...], device: torch.device
) -> Tensor | None:
    """Return a weight for each class, [C], from the settings; None if all count alike."""
    if config.class_weights is None:
        return None
    if config.class_weights == BALANCED:
        weights = balanced_weights(train.rows.targets.astype("int64"), len(labels))
    else:
        weights = [float(weight) for weight in config.class_weights]
    return torch.tensor(weights, device=device)
