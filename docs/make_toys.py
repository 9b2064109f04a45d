"""Train the toys: for each pretraining objective without a larger shipped checkpoint, a tiny one.

    python docs/make_toys.py CORPUS VALID RUNS STEPS [NAME ...]      # NAME: of RECIPES

Each trains for STEPS in RUNS/NAME, all with one vocabulary (RUNS/tokenizer) on texts that are
packed once (RUNS/train, RUNS/valid), and is written into its folder among those that ship: float16
weights, its card, and `toy.json` with its held-out score. Its name belongs into TOYS. A run that
was stopped goes on, and one that has ended is only written anew.
"""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from bertcore.architecture.shapes import shape_of
from bertcore.checkpoints.toys import FOLDER, Toy
from bertcore.configs import DataConfig, OptimizerConfig, TrainConfig
from bertcore.objectives.row import IGNORED
from bertcore.others.network import OtherNetwork
from bertcore.pretraining.data.corpus import (
    PackedCorpus,
    open_corpus,
    pack_corpus_to,
    read_sentences,
)
from bertcore.pretraining.objectives import objective_named
from bertcore.pretraining.objectives.denoising import SequenceBatch
from bertcore.pretraining.run import Pretraining
from bertcore.tokenizer import Tokenizer, open_wordpiece
from bertcore.training.run_folder import RunFolder

VOCAB_SIZE, LAYERS, HIDDEN, HEADS, INNER, TOKENS = 3072, 2, 96, 3, 192, 96


class Recipe(NamedTuple):
    """How a toy is trained and scored."""

    objective: str
    """As for `pretrain --objective`."""
    what: str
    score: str
    """The metric that is an accuracy."""
    family: str = "bert"
    tags: str = "fill-mask"


RECIPES = {
    "toy-sop": Recipe("mlm+sop", "sentence order", "sop_accuracy", family="albert"),
    "toy-rtd": Recipe("rtd", "replaced tokens", "replaced_accuracy", tags="replaced-tokens"),
    "toy-plm": Recipe(
        "plm", "words in a random order", "plm_top1", tags="permutation-language-modeling"
    ),
    "toy-unilm": Recipe("unilm", "UniLM's four masks", "unilm_top1", tags="text-generation"),
    "toy-t5": Recipe("denoise-t5", "T5's spans", "written_top1", tags="text2text-generation"),
    "toy-bart": Recipe("denoise-bart", "BART's noise", "written_top1", tags="text2text-generation"),
    "toy-mass": Recipe("mass", "MASS's fragment", "written_top1", tags="text2text-generation"),
}
WHAT = {
    "sop_accuracy": "pairs of texts whose order it judges rightly",
    "replaced_accuracy": "tokens that it judges rightly, replaced or not",
    "plm_top1": "words guessed, in a random order",
    "unilm_top1": "hidden words guessed, under four attention masks",
    "written_top1": "words written rightly, each after the right ones before it",
}
"""What share a score is."""
CARD = """---
license: cc-by-sa-4.0
language: en
library_name: transformers
tags: [{tags}]
---

# BertScope {name}

A toy: {layers} layers, {hidden} wide, trained for {steps:,} steps with the objective
`{objective}`, so that the page *Objectives* shows an answer for {what}. It knows the most frequent
words and little else: it is of no other use. The weights are stored as float16.

## How good it is

On held-out text: {accuracy:.1%} of {share}; {guessing:.1%} by guessing ({how}).

## Data

{num_tokens:,} tokens, special ones included, of OneStopEnglish (CC BY-SA 4.0; Vajjala and Lucic
2018), the CIA World Factbook (public domain) and English Wikipedia (CC BY-SA 3.0). Such text
carries the views and prejudices of its authors. The training text was the first two whole and
5,000 paragraphs of the third; held out were 400 paragraphs of other articles.

## Training

{steps:,} steps of {rows} rows of {tokens} tokens, from {start}: minutes on one core. All toys share
one vocabulary of {vocab:,} pieces {sentinels}and are made by one script of BertScope's source:

```
bertscope train-tokenizer --corpus toys-train.txt --vocab-size {vocab} --out runs/toys/tokenizer
python docs/make_toys.py toys-train.txt toys-valid.txt runs/toys {steps} {name}
```
"""


def trained(folder: Path, recipe: Recipe, corpus: Path, valid: Path, steps: int) -> Pretraining:
    """Return the run of a folder, continued if it was begun."""
    objective = objective_named(recipe.objective)
    plain = open_wordpiece(folder.parent / "tokenizer")
    tokenizer = objective.tokenizer(plain)
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
    return Pretraining(
        RunFolder(folder),
        shape=shape,
        tokenizer=tokenizer,
        train=packed(folder.parent / "train", corpus, plain),
        valid=packed(folder.parent / "valid", valid, plain),
        train_config=TrainConfig(
            steps=steps,
            start="warm" if objective.is_ours else "noise",
            dtype="float32",
            device="cpu",
            compile="off",
            evaluate_every=10**9,
            save_every=100,
        ),
        data_config=DataConfig.for_length(TOKENS, objective=recipe.objective, batch_size=24),
        optimizer_config=OptimizerConfig(learning_rate=4e-3, muon_learning_rate=4e-3),
        resume=(folder / "checkpoints").is_dir(),
    )


def packed(folder: Path, text: Path, tokenizer: Tokenizer) -> PackedCorpus:
    """Return a text as token ids, tokenised once."""
    if not folder.is_dir():
        pack_corpus_to(folder, read_sentences([text]), tokenizer)
    return open_corpus(folder)


def guessing(recipe: Recipe, run: Pretraining, values: dict[str, Any]) -> tuple[float, str]:
    """Return the accuracy of the best answer that does not look at the text, and which it is."""
    if recipe.objective == "mlm+sop":
        return 0.5, "either order"
    if recipe.objective == "rtd":
        return 1 - values["share_replaced"], "always: not replaced"
    ids = open_corpus(run.folder.path.parent / "valid").ids
    counts = np.bincount(ids)
    most = int(counts.argmax())
    return float(counts[most] / len(ids)), f"always: {run.tokenizer.id_to_token(most)}"


def words_written(run: Pretraining) -> float:
    """Return the share of the held-out word pieces that a decoder writes rightly.

    Marks, which every toy learns first, are not counted: special tokens and T5's sentinels.
    """
    model = cast(OtherNetwork, run.network).model.eval()
    marks = torch.tensor([*run.tokenizer.special_ids, IGNORED])
    right = total = 0
    for batch in run.held_out.own:
        assert isinstance(batch, SequenceBatch)
        rows = batch.rows
        with torch.no_grad():
            logits = model(
                input_ids=rows.input_ids,
                attention_mask=rows.attention_mask.long(),
                decoder_input_ids=rows.decoder_input_ids,
                decoder_attention_mask=rows.decoder_mask.long(),
            ).logits
        is_word = ~torch.isin(rows.labels, marks) & (rows.labels < VOCAB_SIZE)
        right += int((logits.argmax(-1) == rows.labels)[is_word].sum())
        total += int(is_word.sum())
    return right / total


def ship(name: str, checkpoint: Path, score: dict[str, Any]) -> None:
    """Write a toy's files among those that ship."""
    target = FOLDER / name
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


def make(name: str, corpus: Path, valid: Path, runs: Path, steps: int) -> None:
    """Train a toy if necessary, score it, and write it among the shipped checkpoints."""
    recipe = RECIPES[name]
    run = trained(runs / name, recipe, corpus, valid, steps)
    scores = run.run()
    assert scores is not None
    values = scores.to_dict()
    guess, how = guessing(recipe, run, values)
    accuracy, what = values[recipe.score], WHAT[recipe.score]
    if recipe.score == "written_top1":
        accuracy = words_written(run)
    toy = Toy(recipe.objective, run.progress.step, accuracy, what, guess, how)
    ship(name, RunFolder(runs / name).checkpoints()[-1], asdict(toy))
    card = CARD.format(
        name=name,
        tags=recipe.tags,
        objective=recipe.objective,
        layers=LAYERS,
        hidden=HIDDEN,
        what=recipe.what,
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
    (FOLDER / name / "README.md").write_text(card, encoding="utf-8")
    print(name, f"{accuracy:.1%}", f"{guess:.1%}", f"{run.progress.step} steps", flush=True)


if __name__ == "__main__":
    text, held_out, folder = (Path(one).resolve() for one in sys.argv[1:4])
    for toy_name in sys.argv[5:] or RECIPES:
        make(toy_name, text, held_out, folder, int(sys.argv[4]))
