"""Fine-tune and pretrain from Python, as `bertscope finetune` and `bertscope pretrain` do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from bertcore.configs import Columns, DataConfig, FinetuneConfig, OptimizerConfig, TrainConfig
from bertcore.model.architecture.config import BertConfig, shape_of
from bertcore.model.bert import Bert
from bertcore.model.checkpoints.in_memory import ModelInMemory
from bertcore.model.checkpoints.source import DEFAULT
from bertcore.model.loading import load_bert
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.finetuning import make_settings, start_experiment
from bertcore.training.pretraining import Progress, start_run
from bertcore.training.tasks import TaskModel, open_task_model

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

VOCABULARY, LAYERS, WIDTH = 16384, 4, 256
"""Of a network that is pretrained from the start, as for the command."""


def finetune(
    train: str | Path,
    *,
    out: str | Path,
    task: str = "classify",
    dev: str | Path | None = None,
    held_out: float | None = None,
    checkpoint: str | Path = DEFAULT,
    columns: Columns | None = None,
    config: FinetuneConfig | None = None,
    new_head: bool = False,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> TaskModel:
    """Fine-tune a checkpoint on a labelled table, and return the model of the best evaluation.

    Args:
        train: The table to learn from: CSV, TSV, JSON lines, CoNLL columns, SQuAD's JSON, Parquet
            or hub:DATASET.
        out: New folder for the model, its card, report.json and report.md.
            `bertcore.training.finetuning.resume_experiment(out).run()` continues what was
            interrupted.
        task: classify, pair, multilabel, regress, tag, qa or choice.
        dev: The table to score on after each epoch.
        held_out: Fraction of `train` to score on instead, 0 to 1.
        checkpoint: "default", a folder, or a hub id.
        columns: Names of the columns, if they are not the usual ones.
        config: Epochs, batch size, rate and all else of a run.
        new_head: Start with a new head on a checkpoint that was fine-tuned already.
        on_progress: Called after each step.

    ValueError if a setting, the data or the checkpoint cannot be used, or `out` is in use;
    RuntimeError if the loss became NaN.
    """
    chosen = FinetuneConfig() if config is None else config
    values = {field.name: (getattr(chosen, field.name), field.default) for field in fields(chosen)}
    options = {name: value for name, (value, default) in values.items() if value != default}
    rate, seed = options.pop("learning_rate", None), options.pop("seed", chosen.seed)
    settings = make_settings(
        task=task,
        train=Path(train),
        dev=None if dev is None else Path(dev),
        held_out=held_out,
        checkpoint=str(checkpoint),
        learning_rates=() if rate is None else (rate,),
        seeds=(seed,),
        columns=Columns() if columns is None else columns,
        new_head=new_head,
        command=f"bertcore.finetune({str(train)!r}, task={task!r}, out={str(out)!r})",
        **options,
    )
    experiment = start_experiment(Path(out), settings)
    experiment.run(on_progress=lambda name, progress: on_progress(progress))
    return open_task_model(experiment.folder, device=chosen.device)


def pretrain(
    corpus: str | Path | Sequence[str | Path],
    valid: str | Path,
    *,
    out: str | Path,
    train: TrainConfig,
    data: DataConfig | None = None,
    optimizer: OptimizerConfig | None = None,
    shape: BertConfig | None = None,
    tokenizer: Tokenizer | None = None,
    start_from: Bert | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Bert:
    """Pretrain a BERT on text files, and return it as its newest checkpoint.

    Args:
        corpus: Text to train on: a sentence or paragraph a line, an empty line between documents.
        valid: Held-out text in the same form.
        out: New run folder; `bertcore.training.pretraining.resume_run(out).run()` continues it.
        train: Length of the run, in steps or minutes, seed, device, and how often it is saved.
        data: Objective, length of rows and batch.
        optimizer: Rates and schedule.
        shape: Size of a new network; None: 4 layers of 256 with 16,384 word pieces.
        tokenizer: None: it is learned from `corpus`, with as many pieces as the shape has.
        start_from: A model to train further, with its own shape and tokenizer.
        on_progress: Called after each step.

    ValueError if a setting or a text cannot be used, or `out` is not empty.
    """
    texts = [Path(path) for path in ([corpus] if isinstance(corpus, str | Path) else corpus)]
    if not texts:
        raise ValueError("no corpus is given. Give at least one file or folder of texts.")
    if start_from is not None and (shape, tokenizer) != (None, None):
        raise ValueError("start_from has its own shape and tokenizer. Leave the others out.")
    if shape is None and start_from is None:
        size = VOCABULARY if tokenizer is None else tokenizer.vocab_size
        pad = 0 if tokenizer is None else tokenizer.pad_id
        shape = shape_of(
            "bert", vocab_size=size, num_hidden_layers=LAYERS, hidden_size=WIDTH, pad_token_id=pad
        )
    run = start_run(
        Path(out),
        corpus=texts,
        valid=Path(valid),
        tokenizer=tokenizer if start_from is None else None,
        shape=shape if start_from is None else None,
        train_config=train,
        data_config=DataConfig() if data is None else data,
        optimizer_config=OptimizerConfig() if optimizer is None else optimizer,
        start_from=start_from,
        command=f"bertcore.pretrain({str(texts[0])!r}, {str(valid)!r}, out={str(out)!r})",
    )
    run.run(on_progress=on_progress)
    return load_bert(run.folder.checkpoints()[-1], device=train.device)


def open_task(
    source: str | Path | PreTrainedModel,
    *,
    tokenizer: PreTrainedTokenizerBase | Tokenizer | None = None,
    task: str | None = None,
    device: str = "auto",
    allow_pickle: bool = False,
) -> TaskModel:
    """Open a fine-tuned checkpoint with its task head.

    Args:
        source, tokenizer, device, allow_pickle: As for `bertcore.load`: a folder, a hub id, or a
            model of `transformers` in memory with its tokenizer.
        task: classify, pair, ...; None takes that of config.json. Checkpoints of `transformers` do
            not tell "classify" from "pair".

    ValueError if it has no task head, or one for another task; and as `bertcore.load`.
    """
    if not isinstance(source, str | Path):
        source = ModelInMemory(source, tokenizer)
    elif tokenizer is not None:
        raise ValueError(f"{str(source)!r} has its own tokenizer. Leave tokenizer out.")
    return open_task_model(source, task=task, device=device, allow_pickle=allow_pickle)
