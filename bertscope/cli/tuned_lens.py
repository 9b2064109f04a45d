"""`bertscope tuned-lens`: fit a tuned lens on a text, and print what it gains."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bertscope.cli.files import check_target
from bertscope.cli.options import documented
from bertscope.cli.output import make_table, plain, print_json, print_table
from bertscope.cli.progress import stages
from bertscope.cli.text import AsJson, Checkpoint, Device

if TYPE_CHECKING:
    from rich.table import Table

    from bertcore.analysis.tuned_lens import LensGain

MOST_SENTENCES = 50_000
"""Maximum number of sentences read; a lens is fitted on a few thousand hidden tokens."""


@documented
def tuned_lens(
    data: list[Path] | None = None,
    out: Path | None = None,
    checkpoint: Checkpoint = "default",
    device: Device = "auto",
    steps: int = 250,
    seed: int = 0,
    as_json: AsJson = False,
) -> None:
    """Fit a tuned lens: one affine map per layer before the masked-word head.

    Args:
        data: Text: a paragraph or sentence per line; .gz and .xz too. Default: the shipped novel.
        out: File to write. Default: tuned_lens.safetensors beside the checkpoint, or in the cache
            folder if that is not writable; the app finds both.
        steps: Steps of Adam for each layer.
        seed: Seed of hidden tokens and batches.

    \b
    Examples:
      bertscope tuned-lens
      bertscope tuned-lens --data corpus.txt --checkpoint bert-base-uncased --out lens.safetensors
    """
    from bertcore import load
    from bertcore.analysis.tuned_lens import (
        TunedLensSettings,
        fit_tuned_lens,
        place_to_save,
        save_tuned_lens,
    )
    from bertcore.pretraining import read_sentences
    from bertcore.pretraining.data.bundled import NOVEL

    if out is not None:
        check_target(out, makes_folder=True)
    settings = TunedLensSettings(num_steps=steps, seed=seed)
    paths = data or [NOVEL.train]
    with stages() as on_stage:
        on_stage("opening the checkpoint", None)
        bert = load(checkpoint, device=device)
        bert.require("lens")
        on_stage("reading the text", None)
        sentences = itertools.chain.from_iterable(read_sentences(paths))
        lens = fit_tuned_lens(
            bert,
            list(itertools.islice(sentences, MOST_SENTENCES)),
            settings,
            text=", ".join(map(str, data)) if data else NOVEL.title,
            on_fraction=lambda fraction, stage: on_stage(stage.lower(), fraction),
        )
        path = save_tuned_lens(lens, place_to_save(bert) if out is None else out)
    if as_json:
        print_json(
            {
                "checkpoint": checkpoint,
                "file": str(path),
                "text": lens.text,
                "num_tokens": lens.num_tokens,
                "num_steps": lens.num_steps,
                "held_out": lens.gain.to_json(),
            }
        )
        return
    print_table(gain_table(lens.gain))
    typer.echo(
        f"Fitted on {lens.num_tokens:,} hidden tokens of {lens.text}; measured on "
        f"{lens.gain.num_tokens:,} hidden tokens of {lens.gain.num_sentences:,} other sentences. "
        f"Wrote {path}."
    )


def gain_table(gain: LensGain) -> Table:
    """Return a row for each layer: how far each lens is from the last layer."""
    names = ("layer", "plain, bits", "tuned, bits", "saved (95%)", "plain, agrees", "tuned, agrees")
    table = make_table(*names, right=names[1:])
    table.title = "Distance from the last layer's words, by layer"

    def mean(interval: Any, layer: int) -> float:
        return float(interval.mean[layer])

    for layer in range(len(gain.saved_bits.mean)):
        saved = gain.saved_bits
        cells = (
            "embeddings" if layer == 0 else str(layer),
            f"{mean(gain.plain.bits, layer):.2f}",
            f"{mean(gain.tuned.bits, layer):.2f}",
            f"{saved.mean[layer]:.2f} ({saved.low[layer]:.2f} to {saved.high[layer]:.2f})",
            f"{mean(gain.plain.agreement, layer):.1%}",
            f"{mean(gain.tuned.agreement, layer):.1%}",
        )
        table.add_row(*map(plain, cells))
    return table
