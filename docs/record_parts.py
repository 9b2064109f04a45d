"""Fine-tune with chosen parts and few or many labels, and store the scores among what ships.

    python docs/record_parts.py TRAIN.tsv DEV.tsv      # of one-sentence reviews

Each row of the file is the accuracy on the dev data after the last step; no step is chosen on them.
"""

import csv
import json
import math
import random
import sys
import tempfile
from pathlib import Path

import torch

from bertcore.configs import FinetuneConfig
from bertcore.training.finetuning.recorded import PARTS, RECORDED_PARTS, is_trained
from bertcore.training.finetuning.run import Finetuning
from bertcore.training.tasks import find_task
from bertcore.training.tasks.model import start_task_model
from bertcore.training.tasks.read import read_task_data

LABELS = (50, 100, 200, 400, 2387)
SEEDS = (1, 2, 3)
LEAST_STEPS, EPOCHS, BATCH = 200, 3, 32
RATE, HEAD_RATE = 1e-4, 1e-3
"""As `bertscope finetune --label-curve` by default."""


def score(train: Path, dev: Path, part: str, seed: int, num_labels: int, folder: Path) -> float:
    """Return the accuracy of one fine-tuning."""
    generator = torch.Generator().manual_seed(seed)
    model = start_task_model(
        "default",
        task="classify",
        labels=("0", "1"),
        generator=generator,
        is_untrained=part == "untrained",
    )
    num_layers = model.module.network.config.num_hidden_layers
    for name, parameter in model.module.named_parameters():
        is_head = model.module.is_of_head(name)
        parameter.requires_grad = is_head or is_trained(name, part, num_layers)
    with train.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    drawn = random.Random(seed).sample(rows, num_labels)
    part_file = folder / "train.tsv"
    text = "\n".join("\t".join(row) for row in (head, *drawn)) + "\n"
    part_file.write_text(text, encoding="utf-8")
    task = find_task("classify")
    examples, held_out = (
        read_task_data(path, task, model.tokenizer, max_length=128, labels=("0", "1"))
        for path in (part_file, dev)
    )
    config = FinetuneConfig(
        learning_rate=HEAD_RATE if part == "head" else RATE,
        epochs=max(EPOCHS, math.ceil(LEAST_STEPS * BATCH / num_labels)),
        batch_size=BATCH,
        seed=seed,
    )
    run = Finetuning(model, examples, held_out, config, folder / "run")
    while not run.is_over():
        run.take_step()
    return float(run.take_scores()["dev_accuracy"])


def record_all(train: Path, dev: Path) -> None:
    """Write RECORDED_PARTS."""
    rows = []
    for num_labels in LABELS:
        for part in PARTS:
            for seed in SEEDS:
                with tempfile.TemporaryDirectory() as place:
                    accuracy = score(train, dev, part, seed, num_labels, Path(place))
                rows.append(
                    {"part": part, "labels": num_labels, "seed": seed, "accuracy": accuracy}
                )
                print(rows[-1], flush=True)
    record = {
        "command": "python docs/record_parts.py train.tsv dev.tsv",
        "epochs": EPOCHS,
        "least_steps": LEAST_STEPS,
        "batch_size": BATCH,
        "learning_rate": RATE,
        "learning_rate_head": HEAD_RATE,
        "rows": rows,
    }
    RECORDED_PARTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record_all(Path(sys.argv[1]), Path(sys.argv[2]))
