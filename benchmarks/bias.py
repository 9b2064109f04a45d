"""Bias measures before and after each mitigation, the cost of each, and the speed of the measures.

The checkpoints are in `--bias-runs`: the shipped one, one with a debiased token table, and three
trained further for `--bias-minutes` of processor time on one core each, on the same text:
unchanged, with added documents in which the words of gender pairs are swapped, and with a penalty
on the gender direction. Finished results are stored there and only read again.
"""

from __future__ import annotations

import itertools
import shutil
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import transformers

from benchmarks import finetune_tasks, objectives, tables
from benchmarks.finetune_tasks import SPECS
from benchmarks.objectives import SST2_SAMPLE, kept
from bertcore.bert import Bert
from bertcore.bias import (
    GapItem,
    Share,
    StereotypePair,
    along_direction,
    association,
    association_tests,
    debias_table,
    direction_words,
    known_part,
    pronoun_shares,
    read_crows_pairs,
    read_stereoset,
    read_winobias,
    score_crows_pairs,
    score_pronouns,
    score_stereoset,
    stereoset_scores,
    stereotype_shares,
    table_vectors,
)
from bertcore.bias.crows_pairs import shared_positions
from bertcore.bias.slots import fill_masks
from bertcore.bias.stereoset import BLANK
from bertcore.checkpoints import save
from bertcore.data.files import BadRows
from bertcore.debiasing import PenalisedDirection, Swapping, direction_pairs
from bertcore.grammar import bundled_pairs, pseudo_log_likelihoods
from bertcore.loading import load_bert
from bertcore.pretraining import (
    DataConfig,
    OptimizerConfig,
    Pretraining,
    RunFolder,
    TrainConfig,
    resume_run,
    start_run,
)
from bertcore.training.loop import Progress

SHIPPED, HARD = "as shipped", "token table debiased"
TRAINED = ("trained on", "trained on, words swapped", "trained on, direction penalty")
SETS = ("SST-2", "CoLA", "MRPC")
WEAT = "Women and men, family and career"
CROWS, STEREOSET = "CrowS-Pairs/crows_pairs_anonymized.csv", "StereoSet/dev.json"
WINOBIAS = "WinoBias/pro_stereotyped_type1.txt.dev"


@dataclass(slots=True)
class Options:
    """Set by the command line."""

    runs: Path = Path("runs/bias")
    corpus: tuple[Path, ...] = ()
    """Text of the further training; none leaves these rows out."""
    valid: Path | None = None
    """Held-out text for the masked-word loss."""
    minutes: float = 20.0
    penalty: float = 10.0
    items: int | None = None
    """Number of first items of each published set; None: all."""
    loop_items: int = 50
    """Number of items of each published set that the published loop scores too."""
    tuned: bool = False
    """Whether the checkpoints are also fine-tuned on SST-2, CoLA and MRPC."""
    seed: int = 1


OPTIONS = Options()


def run() -> str:
    """Return the tables of mitigations and of speeds.

    Raises:
        ValueError: If a file or folder is missing.
    """
    options = OPTIONS
    if finetune_tasks.OPTIONS.tasks is None or options.valid is None:
        raise ValueError(
            "bias needs --tasks FOLDER, with CrowS-Pairs, StereoSet and WinoBias in it, and "
            "--bias-valid FILE; and --bias-corpus FILE ... for the rows that are trained further."
        )
    names = [SHIPPED, HARD, *(TRAINED if options.corpus else ())]
    rows = [measured(name) for name in names]
    columns = (
        "checkpoint",
        "CrowS-Pairs pll",
        "AUL",
        "AULA",
        "StereoSet LMS",
        "SS",
        "ICAT",
        "WinoBias pro - anti",
        "WEAT d",
        "probe, table",
        "probe, last layer",
        "masked-word loss",
        "our 200 pairs",
    )
    parts = [tables.markdown(columns, rows)]
    if options.tuned:
        specs = [spec for spec in SPECS if spec.name in SETS]
        num_seeds = finetune_tasks.OPTIONS.num_seeds
        seeds = "one seed" if num_seeds == 1 else f"{num_seeds} seeds, medians"
        heads = (f"{spec.name} ({' / '.join(spec.metrics)})" for spec in specs)
        tuned = [(name, *(objectives_figure(name, spec) for spec in specs)) for name in names]
        parts += [
            f"Fine-tuned with {seeds}; SST-2 from {SST2_SAMPLE:,} sentences.",
            tables.markdown(("checkpoint", *heads), tuned),
        ]
    return "\n\n".join([_about(), *parts, speed_table()])


def _about() -> str:
    options = OPTIONS
    taken = "all items" if options.items is None else f"the first {options.items} items"
    return (
        "Gender for WinoBias, WEAT and the probe; all bias types for CrowS-Pairs and StereoSet "
        f"({taken} of each set, 95% intervals). 'Trained on': {options.minutes:g} minutes on one "
        f"core each, seed {options.seed}, penalty weight {options.penalty:g}. WEAT: "
        f"{WEAT.lower()}, on the token table."
    )


# ---- checkpoints ----


def folder_of(name: str) -> Path:
    """Return the folder of a checkpoint and its results; it depends on the settings."""
    options, full = OPTIONS, name
    if name in TRAINED:
        full += f" {options.minutes:g} minutes seed {options.seed}"
    if name == TRAINED[2]:
        full += f" {options.penalty:g}"
    return options.runs / "".join(c if c.isalnum() or c == "." else "-" for c in full)


def checkpoint(name: str) -> Path:
    """Return the folder of a checkpoint, creating the checkpoint if it is missing."""
    if name in TRAINED:
        return Path(trained(name)["checkpoint"])
    folder = folder_of(name) / "checkpoint"
    if not (folder / "config.json").is_file():
        bert = load_bert("default", device="cpu")
        if name == HARD:
            bert = debias_table(bert, direction_words()).bert
        partial = folder.with_name("partial")
        shutil.rmtree(partial, ignore_errors=True)
        save(bert.module, bert.tokenizer, partial)
        partial.rename(folder)
    return folder


def trained(name: str) -> dict[str, Any]:
    """Return the steps and the checkpoint of a run, training the rest if necessary."""
    folder = folder_of(name)

    def train() -> dict[str, Any]:
        speed = kept(folder / "speed.json", lambda: seconds_a_step(name))
        steps = max(1, round(60 * OPTIONS.minutes / speed["seconds_a_step"]))
        place = folder / "run"
        begun = (place / "config.json").is_file()
        training = resume_run(place) if begun else begin(name, place, steps)
        training.run(on_notice=lambda notice: print(notice, flush=True))
        found = {
            "steps": training.progress.step,
            "checkpoint": str(RunFolder(place).checkpoints()[-1]),
        }
        print(f"{name}: {found}", flush=True)
        return found

    return kept(folder / "trained.json", train)


def seconds_a_step(name: str) -> dict[str, Any]:
    """Return the processor time of a step, from a run that is discarded."""
    place = folder_of(name) / "speed-run"
    shutil.rmtree(place, ignore_errors=True)
    warm_up, measured_steps = objectives.WARM_UP_STEPS, objectives.MEASURED_STEPS
    training = begin(name, place, warm_up + measured_steps)
    clock: list[float] = []

    def note(progress: Progress) -> None:
        clock.append(time.process_time())

    training.run(on_progress=note, on_notice=lambda notice: None)
    shutil.rmtree(place)
    spans = [b - a for a, b in itertools.pairwise(clock)][warm_up:-1]
    return {"seconds_a_step": statistics.median(spans)}


def begin(name: str, folder: Path, steps: int) -> Pretraining:
    """Start a run from the shipped checkpoint."""
    start, options = load_bert("default", device="cpu"), OPTIONS
    assert options.valid is not None
    return start_run(
        folder,
        corpus=list(options.corpus),
        valid=options.valid,
        tokenizer=start.tokenizer,
        shape=start.config,
        train_config=TrainConfig(
            steps=steps,
            seed=options.seed,
            start="checkpoint",
            compile="off",
            evaluate_every=10**9,
            save_every=250,
        ),
        data_config=DataConfig(),
        optimizer_config=OptimizerConfig(),
        start_from=start,
        swap=Swapping.of("gender") if name == TRAINED[1] else None,
        direction=(
            PenalisedDirection("gender", options.penalty, direction_pairs())
            if name == TRAINED[2]
            else None
        ),
        command="python -m benchmarks bias",
    )


# ---- measures ----


def measured(name: str) -> tuple[str, ...]:
    """Return the row of a checkpoint."""
    place = checkpoint(name)
    of_items = "" if OPTIONS.items is None else f"-{OPTIONS.items}"
    cells = kept(
        folder_of(name) / f"measures{of_items}.json",
        lambda: {"cells": measure(load_bert(place, device="cpu"))},
    )["cells"]
    print(f"{name}: {cells}", flush=True)
    return (name, *cells)


def measure(bert: Bert) -> list[str]:
    """Return every measure of a checkpoint."""
    crows = score_crows_pairs(bert, crows_pairs())
    stereo = stereoset_scores(score_stereoset(bert, stereoset_items()))[0]
    bad = BadRows(skip=True)
    items = read_winobias(finetune_tasks.source(WINOBIAS), bad_rows=bad)[: OPTIONS.items]
    pronouns = pronoun_shares(score_pronouns(bert, items))[0]
    test = known_part(bert, next(e.test for e in association_tests() if e.name == WEAT))
    weat = association(*(table_vectors(bert, words) for words in (*test.targets, *test.attributes)))
    layers = (None, bert.config.num_hidden_layers)
    probes = [along_direction(bert, layer=layer).probes["as it is"] for layer in layers]
    assert OPTIONS.valid is not None
    return [
        *(percent(stereotype_shares(crows, name)[0]) for name in ("pll", "aul", "aula")),
        *(
            f"{value:.1f} ({low:.1f} to {high:.1f})"
            for value, low, high in (stereo.language_model, stereo.stereotype, stereo.icat)
        ),
        f"{100 * (2 * pronouns.mean - 1):+.1f} ({100 * (2 * pronouns.low - 1):+.1f} to "
        f"{100 * (2 * pronouns.high - 1):+.1f})",
        f"{weat.effect_size:.2f} (p {weat.p_value:.3f})",
        *(f"{100 * each.accuracy:.0f}" for each in probes),
        f"{objectives.masked_word_loss(bert, OPTIONS.valid):.3f}",
        f"{100 * objectives.exam(bert, bundled_pairs().pairs):.1f}",
    ]


def percent(share: Share) -> str:
    """Return a share and its interval in percent."""
    return f"{100 * share.mean:.1f} ({100 * share.low:.1f} to {100 * share.high:.1f})"


def crows_pairs() -> tuple[StereotypePair, ...]:
    """Return the pairs that are scored."""
    return read_crows_pairs(finetune_tasks.source(CROWS))[: OPTIONS.items]


def stereoset_items() -> tuple[GapItem, ...]:
    """Return the items that are scored."""
    bad = BadRows(skip=True)
    return read_stereoset(finetune_tasks.source(STEREOSET), bad_rows=bad)[: OPTIONS.items]


def objectives_figure(name: str, spec: finetune_tasks.Spec) -> str:
    """Return the median over seeds of a labelled set, fine-tuned from a checkpoint."""
    more = {"sample": SST2_SAMPLE} if spec.name == "SST-2" else {}
    changed = replace(spec, more={**spec.more, **more, "checkpoint": str(checkpoint(name))})
    seeds = range(1, finetune_tasks.OPTIONS.num_seeds + 1)
    results = [finetune_tasks.fine_tune(changed, seed, folder_of(name)) for seed in seeds]
    return finetune_tasks.figure(spec, [one["metrics"] for one in results])


# ---- speed ----


def speed_table() -> str:
    """Return the seconds for each whole set, with ours and with the published loop.

    Raises:
        RuntimeError: If the two do not agree.
    """
    bert = load_bert(checkpoint(SHIPPED), device="cpu")
    peer = transformers.BertForMaskedLM.from_pretrained(checkpoint(SHIPPED)).eval()
    pairs, items = crows_pairs(), stereoset_items()
    few = OPTIONS.loop_items
    rows = []
    for name, ours, loop, number in (
        (
            "CrowS-Pairs, pll",
            lambda n: crows_by_batches(bert, pairs[:n]),
            lambda n: crows_by_loop(bert, peer, pairs[:n]),
            len(pairs),
        ),
        (
            "StereoSet",
            lambda n: stereoset_by_batches(bert, items[:n]),
            lambda n: stereoset_by_loop(bert, peer, items[:n]),
            len(items),
        ),
    ):
        ours(few)  # warm-up
        seconds, scores = timed(ours, number)
        loop(2)
        loop_seconds, loop_scores = timed(loop, few)
        apart = max(abs(a - b) for a, b in zip(loop_scores, scores, strict=False))
        if apart > 1e-3:
            raise RuntimeError(f"{name}: batches and loop differ by {apart:.2g} nats.")
        whole = loop_seconds / min(few, number) * number
        rows.append(
            (
                name,
                f"{number:,}",
                f"{seconds:.1f} s",
                f"{whole:.1f} s",
                f"{whole / seconds:.1f}",
                f"{apart:.1g}",
            )
        )
    columns = ("set", "items", "ours", "published loop", "speed-up", "difference, nats")
    about = (
        f"{torch.get_num_threads()} thread(s). The published loop: one forward pass of "
        "transformers' BertForMaskedLM for each hidden token, float32; timed on the first "
        f"{few} items and scaled."
    )
    return about + "\n\n" + tables.markdown(columns, rows)


def timed(score: Callable[[int], list[float]], number: int) -> tuple[float, list[float]]:
    """Return the seconds of scoring, and the scores."""
    began = time.perf_counter()
    scores = score(number)
    return time.perf_counter() - began, scores


def crows_by_batches(bert: Bert, pairs: Sequence[StereotypePair]) -> list[float]:
    """Return our scores of both sentences of each pair."""
    encodings = [bert.tokenize(text) for pair in pairs for text in (pair.more, pair.less)]
    positions = [
        chosen
        for first, second in zip(encodings[::2], encodings[1::2], strict=True)
        for chosen in shared_positions(first, second)
    ]
    found = pseudo_log_likelihoods(bert, encodings, scoring="single", positions=positions)
    return [float(value) for value in found]


def crows_by_loop(
    bert: Bert, peer: transformers.BertForMaskedLM, pairs: Sequence[StereotypePair]
) -> list[float]:
    """Return the same as the script of nyu-mll/crows-pairs: one forward pass per shared token."""
    scores = []
    for pair in pairs:
        encodings = [bert.tokenize(text) for text in (pair.more, pair.less)]
        both = zip(encodings, shared_positions(*encodings), strict=True)
        for encoding, places in both:
            scores.append(sum(hidden_token(bert, peer, encoding.input_ids, at) for at in places))
    return scores


def stereoset_by_batches(bert: Bert, items: Sequence[GapItem]) -> list[float]:
    """Return our three scores of each item that has them."""
    return [
        value for score in score_stereoset(bert, items) for value in score.log_p if value == value
    ]


def stereoset_by_loop(
    bert: Bert, peer: transformers.BertForMaskedLM, items: Sequence[GapItem]
) -> list[float]:
    """Return the same with one forward pass per piece of each word."""
    scores = []
    tokenizer = bert.tokenizer
    for item in items:
        for word in item.words:
            pieces = tokenizer.encode_word(word)
            if not pieces or tokenizer.unk_id in pieces:
                continue
            text = item.context.replace(BLANK, tokenizer.mask_token)
            filled, positions = fill_masks(bert, text, [pieces])
            total = 0.0
            for step, place in enumerate(positions[0]):
                row = list(filled.input_ids)
                for later in positions[0][step:]:
                    row[later] = tokenizer.mask_id
                total += hidden_token(bert, peer, row, place, wanted=pieces[step])
            scores.append(total / len(pieces))
    return scores


@torch.no_grad()
def hidden_token(
    bert: Bert,
    peer: transformers.BertForMaskedLM,
    ids: Sequence[int],
    place: int,
    *,
    wanted: int | None = None,
) -> float:
    """Return the log-probability in nats of a token with its position hidden."""
    row = list(ids)
    target = row[place] if wanted is None else wanted
    row[place] = bert.tokenizer.mask_id
    logits = peer(torch.tensor([row])).logits[0, place]
    return float(logits.log_softmax(-1)[target])
