"""Train the toys: for each pretraining objective without a larger shipped checkpoint, a tiny one.

    python docs/make_toys.py CORPUS VALID RUNS MINUTES [NAME ...]      # NAME: of RECIPES

Each trains for MINUTES in RUNS/NAME, all with one vocabulary (RUNS/tokenizer) on texts that are
packed once (RUNS/train, RUNS/valid), and is written into its folder among those that ship: float16
weights, its card, and `toy.json` with its held-out score. Its name belongs into TOYS. A run that
was stopped goes on, and one that has ended is only written anew.

Few objectives leave the plateau of word frequencies in minutes, but next tokens do. So they are
trained first (RUNS/next-tokens, whose word vectors are the shipped default's in fewer dimensions),
and the toys start from those weights: UniLM, and from it BERT's family, BART's network from them on
both sides, and T5, whose layers have another form, from the word vectors.
"""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from bertcore.configs import DataConfig, OptimizerConfig, TrainConfig
from bertcore.model.architecture.config import shape_of
from bertcore.model.checkpoints.source import DEFAULT, TOY_FOLDER, Toy
from bertcore.model.loading import load_bert
from bertcore.model.network import Network
from bertcore.model.objectives.row import IGNORED
from bertcore.model.others.network import OtherNetwork
from bertcore.model.tokenizer import Tokenizer, open_wordpiece
from bertcore.training.engine.run_folder import RunFolder, step_of
from bertcore.training.pretraining import train_tokenizer
from bertcore.training.pretraining.data.corpus import (
    PackedCorpus,
    open_corpus,
    pack_corpus_to,
    read_sentences,
)
from bertcore.training.pretraining.evaluation import HeldOut
from bertcore.training.pretraining.objectives import objective_named
from bertcore.training.pretraining.run import HELD_OUT_SEED, Pretraining
from bertcore.training.pretraining.starting_weights import VECTOR_STD

VOCAB_SIZE, LAYERS, HIDDEN, HEADS, INNER, TOKENS = 3072, 2, 96, 3, 192, 96
ROWS = 24


class Recipe(NamedTuple):
    """How a toy is trained and scored."""

    objective: str
    """As for `pretrain --objective`."""
    what: str
    score: str
    """The metric that is an accuracy."""
    family: str = "bert"
    tags: str = "fill-mask"
    share: float | None = None
    """Fraction of the tokens that are hidden in training; None: the objective's own, by which all
    are scored."""
    start: str = "next-tokens"
    """The run from whose weights it starts."""


START = "next-tokens"
"""The run that is made before the first toy."""
START_MINUTES = 7
NEXT_TOKENS = Recipe("causal", "next tokens", "next_top1", start="")
RECIPES = {
    "toy-unilm": Recipe(
        "unilm", "UniLM's four masks", "unilm_top1", tags="text-generation", share=0.25
    ),
    "toy-sop": Recipe(
        "mlm+sop", "sentence order", "sop_accuracy", family="albert", start="toy-unilm"
    ),
    "toy-rtd": Recipe(
        "rtd",
        "replaced tokens",
        "replaced_accuracy",
        family="electra",
        tags="replaced-tokens",
        start="toy-unilm",
    ),
    "toy-plm": Recipe(
        "plm",
        "words in a random order",
        "plm_top1",
        tags="permutation-language-modeling",
        share=0.3,
        start="toy-unilm",
    ),
    "toy-t5": Recipe(
        "denoise-t5", "T5's spans", "written_top1", tags="text2text-generation", share=0.5
    ),
    "toy-bart": Recipe("denoise-bart", "BART's noise", "written_top1", tags="text2text-generation"),
    "toy-mass": Recipe("mass", "MASS's fragment", "written_top1", tags="text2text-generation"),
}
STARTS = {START: "a network for next tokens of the same text", "toy-unilm": "`toy-unilm`"}
FRACTION_OF = {
    "sop_accuracy": "pairs of texts, in their order or exchanged",
    "replaced_accuracy": "tokens, original or replaced ({replaced_recall:.1%} of the replaced ones "
    "are found)",
    "plm_top1": "words, guessed in a random order",
    "unilm_top1": "hidden words, guessed under four attention masks",
    "written_top1": "words, each written after the right ones before it",
}
"""What a score is a fraction of."""
IN_BART = {
    "attention.self.query": "self_attn.q_proj",
    "attention.self.key": "self_attn.k_proj",
    "attention.self.value": "self_attn.v_proj",
    "attention.output.dense": "self_attn.out_proj",
    "attention.output.LayerNorm": "self_attn_layer_norm",
    "intermediate.dense": "fc1",
    "output.dense": "fc2",
    "output.LayerNorm": "final_layer_norm",
}
"""A module of BERT's layer -> the same in BART's."""
NEAR = "\nThat is hardly better than guessing."
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

Correct on held-out text: {accuracy:.1%} of {share}; {guessing:.1%} by guessing ({how}).{near}

## Data

{num_tokens:,} tokens, special ones included, of OneStopEnglish (CC BY-SA 4.0; Vajjala and Lucic
2018), the CIA World Factbook (public domain) and English Wikipedia (CC BY-SA 3.0). Such text
carries the views and prejudices of its authors. The training text was the first two whole and
5,000 paragraphs of the third; held out were 400 paragraphs of other articles.

## Training

{steps:,} steps of {rows} rows of {tokens} tokens, {minutes:g} minutes on one core. It started from
{start} after {start_steps:,} steps; the first of all started from the
word vectors of the shipped `default`, reduced to {hidden} dimensions. All toys share one vocabulary
of {vocab:,} pieces{sentinels}, learned as by `bertscope pretrain --vocab-size {vocab}`, and are
made by one script of BertScope's source:

```
python docs/make_toys.py toys-train.txt toys-valid.txt runs/toys {minutes:g} {name}
```
"""


def trained(folder: Path, recipe: Recipe, corpus: Path, valid: Path, minutes: float) -> Pretraining:
    """Return the run of a folder, continued if it was begun."""
    objective = objective_named(recipe.objective)
    vocabulary = folder.parent / "tokenizer"
    if not vocabulary.is_dir():
        train_tokenizer([corpus], vocab_size=VOCAB_SIZE).save(vocabulary)
    plain = open_wordpiece(vocabulary)
    tokenizer = objective.tokenizer(plain)
    shape = shape_of(
        recipe.family,
        vocab_size=tokenizer.vocab_size,
        num_hidden_layers=LAYERS,
        hidden_size=HIDDEN,
        num_attention_heads=HEADS,
        pad_token_id=tokenizer.pad_id,
    )
    shape = replace(
        shape, intermediate_size=INNER, max_position_embeddings=TOKENS, embedding_size=None
    )
    is_new, is_start = not (folder / "checkpoints").is_dir(), recipe is NEXT_TOKENS
    begin = None if is_start else begun(folder.parent, recipe)
    goes_on = begin is not None and objective.is_ours
    run = Pretraining(
        RunFolder(folder),
        shape=shape,
        tokenizer=tokenizer,
        train=packed(folder.parent / "train", corpus, plain),
        valid=packed(folder.parent / "valid", valid, plain),
        train_config=TrainConfig(
            minutes=minutes,
            start="checkpoint" if goes_on else "warm" if is_start else "noise",
            dtype="float32",
            device="cpu",
            compile="off",
            evaluate_every=10**9,
            save_every=100,
        ),
        data_config=DataConfig.for_length(
            TOKENS, objective=recipe.objective, masked_lm_prob=recipe.share, batch_size=ROWS
        ),
        optimizer_config=OptimizerConfig(learning_rate=4e-3, muon_learning_rate=4e-3),
        start_from=load_bert(begin, device="cpu").module if begin and goes_on else None,
        resume=not is_new,
    )
    if is_new and is_start:
        run.network.token_table.data.copy_(shipped_vectors(tokenizer, run.network))
    elif is_new and begin is not None and not goes_on:
        start_decoder(cast(OtherNetwork, run.network).model, load_file(begin / "model.safetensors"))
    return run


def begun(runs: Path, recipe: Recipe) -> Path:
    """Return the checkpoint from which a toy starts."""
    return RunFolder(runs / recipe.start).checkpoints()[-1]


def shipped_vectors(tokenizer: Tokenizer, network: Network) -> torch.Tensor:
    """Return the shipped default's vectors of the pieces in the directions in which they differ
    most, [V, D]; pieces that it does not have keep the network's own."""
    default = load_bert(DEFAULT, device="cpu")
    theirs = {piece: id for id, piece in enumerate(default.tokenizer.vocab)}
    ours = {id: theirs[piece] for id, piece in enumerate(tokenizer.vocab) if piece in theirs}
    rows = default.module.token_table.detach().float()[list(ours.values())]
    rows = rows - rows.mean(0)
    reduced = rows @ torch.linalg.svd(rows, full_matrices=False).Vh[:HIDDEN].T
    table = network.token_table.detach().clone()
    table[list(ours)] = reduced / reduced.std() * VECTOR_STD
    return table


@torch.no_grad()
def start_decoder(model: Any, causal: dict[str, torch.Tensor]) -> None:
    """Copy next-token weights into a network with a decoder, where its parts have the same form.

    What attends from the decoder to the encoder, and all of T5 but its word vectors, stays noise.
    """
    table = causal["bert.embeddings.word_embeddings.weight"]
    if model.config.model_type == "t5":
        model.shared.weight[: len(table)] = table / table.std()
        return
    model.model.shared.weight.copy_(table)
    model.final_logits_bias.copy_(causal["cls.predictions.bias"])
    places = causal["bert.embeddings.position_embeddings.weight"]
    places = places + causal["bert.embeddings.token_type_embeddings.weight"][0]
    for side in (model.model.encoder, model.model.decoder):
        offset = side.embed_positions.offset
        side.embed_positions.weight[offset : offset + len(places)] = places
        copied = {"layernorm_embedding": "bert.embeddings.LayerNorm"}
        for number in range(len(side.layers)):
            copied |= {
                f"layers.{number}.{ours}": f"bert.encoder.layer.{number}.{theirs}"
                for theirs, ours in IN_BART.items()
            }
        for ours, theirs in copied.items():
            for kind in ("weight", "bias"):
                side.get_parameter(f"{ours}.{kind}").copy_(causal[f"{theirs}.{kind}"])


def packed(folder: Path, text: Path, tokenizer: Tokenizer) -> PackedCorpus:
    """Return a text as token ids, tokenised once."""
    if not folder.is_dir():
        pack_corpus_to(folder, read_sentences([text]), tokenizer)
    return open_corpus(folder)


def guessing(recipe: Recipe, run: Pretraining, values: dict[str, Any]) -> tuple[float, str]:
    """Return the accuracy of the best answer that does not look around, and which it is."""
    if recipe.objective == "mlm+sop":
        return 0.5, "either order"
    if recipe.objective == "rtd":
        return 1 - values["share_replaced"], "always: not replaced"
    ids = open_corpus(run.folder.path.parent / "valid").ids
    counts = np.bincount(ids)
    most = int(counts.argmax())
    rate, always = float(counts[most] / len(ids)), f"always: {run.tokenizer.id_to_token(most)}"
    if recipe.objective == "unilm":  # 80% are [MASK], 10% are left as they are
        return 0.8 * rate + 0.1, f"{always}, or the word that stands there"
    return rate, always


def words_written(run: Pretraining, held_out: HeldOut) -> float:
    """Return the fraction of the held-out word pieces that a decoder writes rightly.

    Marks, which every toy learns first, are neither counted nor chosen: special tokens and T5's
    sentinels.
    """
    model = cast(OtherNetwork, run.network).model.eval()
    marks = torch.tensor([*run.tokenizer.special_ids, IGNORED])
    right = total = 0
    for batch in held_out.own:
        with torch.no_grad():
            logits = model(
                input_ids=batch.input_ids,
                attention_mask=batch.attention_mask.long(),
                decoder_input_ids=batch.decoder_input_ids,
                decoder_attention_mask=batch.decoder_attention_mask.long(),
            ).logits[..., :VOCAB_SIZE]
        is_word = ~torch.isin(batch.labels, marks) & (batch.labels < VOCAB_SIZE)
        right += int((logits.argmax(-1) == batch.labels)[is_word].sum())
        total += int(is_word.sum())
    return right / total


def ship(name: str, checkpoint: Path, score: dict[str, Any]) -> None:
    """Write a toy's files among those that ship."""
    target = TOY_FOLDER / name
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
    if not (runs / START / "checkpoints").is_dir():
        print(trained(runs / START, NEXT_TOKENS, corpus, valid, START_MINUTES).run(), flush=True)
    recipe = RECIPES[name]
    run = trained(runs / name, recipe, corpus, valid, minutes)
    run.run()
    held_out = HeldOut(
        run.objective,
        packed(runs / "valid", valid, run.tokenizer),
        run.tokenizer,
        DataConfig.for_length(TOKENS, objective=recipe.objective, batch_size=ROWS),
        seed=HELD_OUT_SEED,
        num_rows=run.config.evaluate_rows,
    )
    scores = held_out.score(run.network, run.companion, dtype="float32")
    values = scores.to_dict()
    print(name, run.progress.step, values, flush=True)
    guess, how = guessing(recipe, run, values)
    accuracy, what = values[recipe.score], FRACTION_OF[recipe.score].format(**values)
    if recipe.score == "written_top1":
        accuracy = words_written(run, held_out)
    is_t5 = name == "toy-t5"
    what += " (a sentinel is no choice)" * is_t5
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
        near=NEAR * toy.is_near_guessing,
        num_tokens=run.progress.num_tokens,
        steps=run.progress.step,
        minutes=minutes,
        rows=ROWS,
        tokens=TOKENS,
        start=f"the {'word vectors' if is_t5 else 'weights'} of {STARTS[recipe.start]}",
        start_steps=step_of(begun(runs, recipe)),
        vocab=VOCAB_SIZE,
        sentinels=" (and T5's sentinels)" * is_t5,
    )
    (TOY_FOLDER / name / "README.md").write_text(card, encoding="utf-8")
    print(name, f"{accuracy:.1%}", f"{guess:.1%}", f"{run.progress.step} steps", flush=True)


if __name__ == "__main__":
    text, held_out_text, folder = (Path(one).resolve() for one in sys.argv[1:4])
    for toy_name in sys.argv[5:] or RECIPES:
        make(toy_name, text, held_out_text, folder, float(sys.argv[4]))
