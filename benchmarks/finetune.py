"""Fine-tuning against the Trainer of transformers: same checkpoint, data, epochs and threads.

Both use the recipe of `bertscope finetune`: AdamW, warm-up over a tenth of the steps, linear decay,
batches of 32, dropout 0.1, gradient clipping at 1. The Trainer is used as in its guide, with texts
tokenised in advance and random batches padded to their longest row; in its default float32 and in
bfloat16.
"""

import random
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks import tables
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.finetuning import make_settings, start_experiment
from bertcore.training.tasks import TaskData, find_task, read_task_data

AIM = 2.5
NEAR = 0.005
"""Accuracies within half a point count as equal."""
GOOD = "good great fine beautiful funny best love perfect wonderful brilliant".split()
BAD = "bad poor dull worst boring terrible hate awful weak stupid".split()
PLAIN = """the a film movie story of and in with its this that is was it as an one man actor
music time end way scene people life little much very so but not""".split()


@dataclass(slots=True)
class Options:
    """Set by the command line."""

    train: Path | None = None
    """SST-2's train.tsv or a similar file; None generates sentences of its lengths."""
    dev: Path | None = None
    checkpoint: str = "default"
    epochs: int = 1
    num_seeds: int = 1
    learning_rate: float = 3e-4
    num_sentences: int = 4000
    """Generated if no file is given."""


OPTIONS = Options()


class Measured(NamedTuple):
    """Result of one contender with one seed."""

    name: str
    examples_per_second: float
    accuracy: float


def run() -> str:
    """Return a table of speed and accuracy."""
    options = OPTIONS
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        train = options.train or make_sentences(folder / "train.tsv", options.num_sentences, 0)
        dev = options.dev or make_sentences(folder / "dev.tsv", 500, 1)
        measured: list[Measured] = []
        for seed in range(1, options.num_seeds + 1):
            for dtype in ("float32", "bfloat16"):
                measured.append(measure_trainer(folder, train, dev, seed=seed, dtype=dtype))
                measured.append(measure_ours(folder, train, dev, seed=seed, dtype=dtype))
    of_name: dict[str, list[Measured]] = {}
    for one in measured:
        of_name.setdefault(one.name, []).append(one)
    speed = {n: statistics.median(m.examples_per_second for m in ms) for n, ms in of_name.items()}
    accuracy = {n: statistics.median(m.accuracy for m in ms) for n, ms in of_name.items()}
    base = "transformers Trainer, float32"
    rows = [
        (name, f"{speed[name]:,.0f}", f"{speed[name] / speed[base]:.2f}", f"{accuracy[name]:.4f}")
        for name in of_name
    ]
    ours = "ours, bfloat16"
    reached = speed[ours] / speed[base] >= AIM
    equal = accuracy[ours] >= accuracy[base] - NEAR
    data = train.name if options.train else f"{options.num_sentences:,} generated sentences"
    epochs = "1 epoch" if options.epochs == 1 else f"{options.epochs} epochs"
    title = (
        f"{data}, {epochs}, batch 32, {torch.get_num_threads()} threads, "
        f"{options.num_seeds} seed(s), learning rate {options.learning_rate:g}"
    )
    columns = ("contender", "examples/s", "times the Trainer", "dev accuracy")
    verdict = (
        f"Aim ({AIM} times the Trainer's default): {'reached' if reached else 'missed'}; accuracy "
        f"{'equal or better' if equal else 'lower'} (within {NEAR:.1%})."
    )
    return "\n\n".join([title, tables.markdown(columns, rows), verdict])


def measure_ours(folder: Path, train: Path, dev: Path, *, seed: int, dtype: str) -> Measured:
    """Run the loop of `bertscope finetune`; the time excludes evaluation and saving."""
    settings = make_settings(
        task="classify",
        train=train,
        dev=dev,
        checkpoint=OPTIONS.checkpoint,
        learning_rates=(OPTIONS.learning_rate,),
        seeds=(seed,),
        epochs=OPTIONS.epochs,
        dtype=dtype,
    )
    report = start_experiment(folder / f"ours-{dtype}-{seed}", settings).run()
    assert report is not None
    best = report["best"]
    accuracy = float(best["scores"]["metrics"]["accuracy"])
    return Measured(f"ours, {dtype}", float(best["examples_per_second"]), accuracy)


def measure_trainer(folder: Path, train: Path, dev: Path, *, seed: int, dtype: str) -> Measured:
    """Run the Trainer of transformers; the time includes only training."""
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        DataCollatorWithPadding,
        Trainer,
        TrainingArguments,
        set_seed,
    )

    from bertcore import load

    bert = load(OPTIONS.checkpoint, device="cpu")
    checkpoint = bert.save(folder / "checkpoint")
    train_rows, dev_rows = (as_list(read(path, bert.tokenizer)) for path in (train, dev))
    set_seed(seed)  # also for the new head
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=2)
    steps = OPTIONS.epochs * -(-len(train_rows) // 32)
    arguments = TrainingArguments(
        output_dir=str(folder / f"theirs-{dtype}-{seed}"),
        per_device_train_batch_size=32,
        per_device_eval_batch_size=64,
        num_train_epochs=OPTIONS.epochs,
        learning_rate=OPTIONS.learning_rate,
        warmup_steps=steps // 10,
        weight_decay=0.01,
        bf16=dtype == "bfloat16",
        seed=seed,
        use_cpu=not torch.cuda.is_available(),
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        logging_strategy="no",
    )
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=train_rows,
        data_collator=DataCollatorWithPadding(AutoTokenizer.from_pretrained(checkpoint)),
    )
    start = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - start
    output = trainer.predict(dev_rows)
    accuracy = float((np.argmax(output.predictions, -1) == output.label_ids).mean())
    name = f"transformers Trainer, {dtype}"
    return Measured(name, OPTIONS.epochs * len(train_rows) / seconds, accuracy)


def read(path: Path, tokenizer: Tokenizer) -> TaskData:
    """Read the examples of a file with our reader, so that both get the same ids."""
    return read_task_data(path, find_task("classify"), tokenizer, max_length=128)


def as_list(data: TaskData) -> list[dict[str, Any]]:
    """Return examples in the Trainer's form."""
    rows = data.rows
    return [
        {
            "input_ids": rows.ids[rows.starts[i] : rows.starts[i + 1]].tolist(),
            "label": int(rows.targets[i]),
        }
        for i in range(len(rows))
    ]


def make_sentences(path: Path, num: int, seed: int) -> Path:
    """Write sentences as long as SST-2's phrases (9 words on average), labelled by one word."""
    rng = random.Random(seed)
    lines = ["sentence\tlabel"]
    for _ in range(num):
        label = rng.randrange(2)
        length = min(50, 1 + int(rng.expovariate(1 / 8.5)))
        words = rng.choices(PLAIN, k=length)
        words.insert(rng.randrange(length + 1), rng.choice((BAD, GOOD)[label]))
        lines.append(f"{' '.join(words)}\t{label}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
