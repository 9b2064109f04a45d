"""Train the toys: for each pretraining objective without a larger shipped checkpoint, a tiny one.

    python docs/make_toys.py CORPUS VALID RUNS MINUTES [NAME ...]      # NAME: of TOYS

Each trains for MINUTES in RUNS/NAME, all with one vocabulary (RUNS/tokenizer), and is written into
its folder among those that ship: float16 weights, its card, and `toy.json` with its held-out score.
What has been trained is not trained again.
"""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.torch import load_file, save_file

from bertcore.architecture.shapes import shape_of
from bertcore.checkpoints.source import SHIPPED
from bertcore.checkpoints.toys import TOYS, Toy
from bertcore.configs import DataConfig, OptimizerConfig, TrainConfig
from bertcore.pretraining import resume_run, start_run
from bertcore.pretraining.data.corpus import open_corpus
from bertcore.pretraining.objectives import objective_named
from bertcore.pretraining.run import Pretraining
from bertcore.tokenizer import open_wordpiece
from bertcore.training.run_folder import RunFolder

VOCAB_SIZE, LAYERS, HIDDEN, HEADS, INNER, TOKENS = 3072, 2, 96, 3, 192, 96


class Recipe(NamedTuple):
    """How a toy is trained and scored."""

    objective: str
    """As for `pretrain --objective`."""
    score: str
    """The metric that is an accuracy."""
    family: str = "bert"
    tags: str = "fill-mask"


RECIPES = {
    "toy-sop": Recipe("mlm+sop", "sop_accuracy", family="albert"),
    "toy-rtd": Recipe("rtd", "replaced_accuracy", tags="replaced-tokens"),
    "toy-plm": Recipe("plm", "plm_top1", tags="permutation-language-modeling"),
    "toy-unilm": Recipe("unilm", "unilm_top1", tags="text-generation"),
    "toy-t5": Recipe("denoise-t5", "written_top1", tags="text2text-generation"),
    "toy-bart": Recipe("denoise-bart", "written_top1", tags="text2text-generation"),
    "toy-mass": Recipe("mass", "written_top1", tags="text2text-generation"),
}
WHAT = {
    "sop_accuracy": "pairs of texts whose order it judges rightly",
    "replaced_accuracy": "tokens that it judges rightly, replaced or not",
    "plm_top1": "words guessed, in a random order",
    "unilm_top1": "hidden words guessed, under four attention masks",
    "written_top1": "tokens written rightly, each after the right ones before it",
}
"""What share a score is."""
CARD = """---
license: cc-by-sa-4.0
language: en
library_name: transformers
tags: [{tags}]
---

# BertScope {name}

A toy: {layers} layers, {hidden} wide, trained for {minutes:g} minutes on one core, objective
`{objective}`, so that the page *Objectives* shows an answer for {what}. It knows the most frequent
words and little else: it is of no other use. The weights are stored as float16.

## How good it is

On held-out text: {accuracy:.1%} of {share}; {guessing:.1%} by guessing ({how}).

## Data

{num_tokens:,} tokens, special ones included, of OneStopEnglish (CC BY-SA 4.0; Vajjala and Lucic
2018), the CIA World Factbook (public domain) and English Wikipedia (CC BY-SA 3.0). Such text
carries the views and prejudices of its authors.

## Training

{steps:,} steps of {rows} rows of {tokens} tokens, from {start}. All toys share one vocabulary of
{vocab:,} pieces {sentinels}and are made by one script of BertScope's source:

```
bertscope train-tokenizer --corpus toys-train.txt --vocab-size {vocab} --out runs/toys/tokenizer
python docs/make_toys.py toys-train.txt toys-valid.txt runs/toys {minutes:g} {name}
```
"""


def trained(folder: Path, recipe: Recipe, corpus: Path, valid: Path, minutes: float) -> Pretraining:
    """Return the finished run of a folder, started or continued if necessary."""
    if (folder / "config.json").is_file():
        run = resume_run(folder)
    else:
        objective = objective_named(recipe.objective)
        tokenizer = objective.tokenizer(open_wordpiece(folder.parent / "tokenizer"))
        shape = shape_of(
            recipe.family,
            vocab_size=tokenizer.vocab_size,
            num_hidden_layers=LAYERS,
            hidden_size=HIDDEN,
            num_attention_heads=HEADS,
            pad_token_id=tokenizer.pad_id,
        )
        shape = replace(shape, intermediate_size=INNER, max_position_embeddings=TOKENS)
        if recipe.family == "albert":
            shape = replace(shape, embedding_size=64)
        run = start_run(
            folder,
            corpus=[corpus],
            valid=valid,
            tokenizer=tokenizer,
            shape=shape,
            train_config=TrainConfig(
                minutes=minutes,
                start="warm" if objective.is_ours else "noise",
                dtype="float32",
                device="cpu",
                compile="off",
                evaluate_every=10**9,
                save_every=10**9,
            ),
            data_config=DataConfig.for_length(TOKENS, objective=recipe.objective, batch_size=24),
            optimizer_config=OptimizerConfig(learning_rate=4e-3, muon_learning_rate=4e-3),
            command="python docs/make_toys.py",
        )
    return run


def guessing(recipe: Recipe, run: Pretraining, values: dict[str, Any]) -> tuple[float, str]:
    """Return the accuracy of the best answer that does not look at the text, and which it is."""
    if recipe.objective == "mlm+sop":
        return 0.5, "either order"
    if recipe.objective == "rtd":
        return 1 - values["share_replaced"], "always: not replaced"
    ids = open_corpus(run.folder.data / "valid").ids
    counts = np.bincount(ids)
    most = int(counts.argmax())
    return float(counts[most] / len(ids)), f"always: {run.tokenizer.id_to_token(most)}"


def ship(name: str, checkpoint: Path, score: dict[str, Any]) -> None:
    """Write a toy's files among those that ship."""
    target = SHIPPED[name]
    target.mkdir(parents=True, exist_ok=True)
    tensors = load_file(checkpoint / "model.safetensors")
    weights = target / "model.safetensors"
    save_file({key: one.half() for key, one in tensors.items()}, weights, metadata={"format": "pt"})
    weights.chmod(0o644)  # safetensors keeps others from reading
    kept = ["config.json", "vocab.txt", "tokenizer_config.json", "generation_config.json"]
    kept += ["tokenizer.json"] * (name == "toy-t5")  # its sentinels; the others need vocab.txt only
    for file in kept:
        if (checkpoint / file).is_file():
            (target / file).write_bytes((checkpoint / file).read_bytes())
    (target / "toy.json").write_text(json.dumps(score, indent=2) + "\n", encoding="utf-8")


def make(name: str, corpus: Path, valid: Path, runs: Path, minutes: float) -> None:
    """Train a toy if necessary, score it, and write it among the shipped checkpoints."""
    recipe = RECIPES[name]
    run = trained(runs / name, recipe, corpus, valid, minutes)
    scores = run.run()
    assert scores is not None
    values = scores.to_dict()
    guess, how = guessing(recipe, run, values)
    accuracy, what = values[recipe.score], WHAT[recipe.score]
    toy = Toy(recipe.objective, run.config.minutes or 0, accuracy, what, guess, how)
    ship(name, RunFolder(runs / name).checkpoints()[-1], asdict(toy))
    card = CARD.format(
        name=name,
        tags=recipe.tags,
        objective=recipe.objective,
        layers=LAYERS,
        hidden=HIDDEN,
        minutes=toy.minutes,
        what=TOYS[name],
        accuracy=accuracy,
        share=what,
        guessing=guess,
        how=how,
        num_tokens=run.progress.num_tokens,
        steps=run.progress.step,
        rows=run.batches.config.batch_size,
        tokens=TOKENS,
        start="word vectors from counts" if run.config.start == "warm" else "noise",
        vocab=VOCAB_SIZE,
        sentinels="(and T5's sentinels) " * (name == "toy-t5"),
    )
    (SHIPPED[name] / "README.md").write_text(card, encoding="utf-8")
    print(name, f"{accuracy:.1%}", f"{guess:.1%}", f"{run.progress.step} steps", flush=True)


if __name__ == "__main__":
    text, held_out, folder = (Path(one).resolve() for one in sys.argv[1:4])
    for toy_name in sys.argv[5:] or RECIPES:
        make(toy_name, text, held_out, folder, float(sys.argv[4]))
