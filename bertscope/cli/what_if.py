"""`bertscope ablate` and `bertscope prune`: rank heads by importance, and remove some for good."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bertscope.cli.options import documented
from bertscope.cli.output import make_table, plain, print_json, print_table
from bertscope.cli.progress import stages
from bertscope.cli.text import AsJson, Checkpoint, Device, Dtype, TextA, TextB, open_with_text

if TYPE_CHECKING:
    from bertcore.analysis.heads.importance import HeadImportance

UNITS = {
    "word": "change of ln p of the word",
    "divergence": "KL divergence, nats",
    "label": "change of p of the label, or of the score",
    "answer": "KL divergence of the task's answer, nats",
    "next_sentence": "change of P(B follows A)",
    "hidden": "1 - cosine, last layer",
}
"""The unit of each measure."""


@documented
def ablate(
    text: TextA,
    text_b: TextB = None,
    word: str | None = None,
    label: str | None = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure", help=f"Rank by {', '.join(UNITS)}; default: the first available."
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1)] = 10,
    checkpoint: Checkpoint = "default",
    device: Device = "auto",
    dtype: Dtype = "auto",
    as_json: AsJson = False,
) -> None:
    """Remove each attention head alone and rank the heads by their effect on the answer.

    The answer is, with a [MASK], the word at the first one; with a fine-tuned checkpoint, its
    label, score, tags or span; with a pair, the next-sentence probability; otherwise the last
    hidden states.

    Args:
        word: Piece to follow at the [MASK]; default: the best guess.
        label: Label of a fine-tuned checkpoint to follow; default: the best.
        top: Heads to print.

    \b
    Examples:
      bertscope ablate "Paris is the capital of [MASK]."
      bertscope ablate "The river [MASK] was steep." --word bank --json
      bertscope ablate "He went to the shop." "He bought milk." --measure next_sentence
      bertscope ablate "A good film." --checkpoint runs/sst2 --label positive
    """
    from bertcore.analysis.heads.importance import rank_heads
    from bertcore.tasks.checkpoint_head import read_task_head

    bert, encoding = open_with_text(checkpoint, device, dtype, text, text_b)
    task = None
    try:
        task = read_task_head(bert)
    except ValueError as error:
        if label is not None:
            raise
        typer.echo(f"without the task head: {error}", err=True)
    if label is not None and task is None:
        raise ValueError(
            f"{label!r} cannot be followed: the checkpoint {bert.name!r} has no task head. "
            "Leave out --label, or open a fine-tuned checkpoint."
        )
    with stages() as on_stage:
        on_stage("removing heads", 0.0)
        importance = rank_heads(
            bert,
            encoding,
            word=word,
            task=task,
            label=label,
            on_fraction=lambda fraction: on_stage("removing heads", fraction),
        )
    chosen = measure or importance.measures()[0]
    best = importance.strongest(chosen, top)
    if as_json:
        print_json(_as_json(importance, chosen, best))
        return
    table = make_table("head", *importance.measures(), right=importance.measures())
    about = ""
    if chosen == "label" and importance.chosen_label is not None:
        about = f", {importance.chosen_label!r}"
    elif importance.chosen is not None:
        about = f", {importance.chosen!r} at token {importance.position}"
    table.title = plain(f"by {UNITS[chosen]}{about}")
    for layer, head, _ in best:
        values = (getattr(importance, name)[layer, head] for name in importance.measures())
        table.add_row(f"{layer}.{head}", *(f"{value:+.4g}" for value in values))
    print_table(table)


def _as_json(
    importance: HeadImportance, chosen: str, best: list[tuple[int, int, float]]
) -> dict[str, object]:
    return {
        "measure": chosen,
        "position": importance.position,
        "word": importance.chosen,
        "task": importance.task,
        "label": importance.chosen_label,
        "strongest": [{"layer": la, "head": he, "effect": effect} for la, he, effect in best],
        "effects": {name: getattr(importance, name) for name in importance.measures()},
    }


@documented
def prune(
    checkpoint: Annotated[str, typer.Argument()],
    out: Path,
    more: Annotated[list[str] | None, typer.Argument(metavar="[HEAD]...")] = None,
    heads: list[str] | None = None,
    as_json: AsJson = False,
) -> None:
    """Remove attention heads for good and save the checkpoint; it opens in transformers.

    The shape is kept and the removed heads output zeros, so the checkpoint is no smaller and no
    faster: it shows what the network does without them. config.json and README.md name them.

    Args:
        checkpoint: 'default', a folder, or a hub id such as bert-base-uncased.
        out: New folder to write.
        more: layer.head, such as 0.3.
        heads: The same; several may follow.

    \b
    Examples:
      bertscope prune default --heads 0.3 1.2 --out without-two-heads
    """
    from bertcore import load
    from bertcore.analysis.heads.pruning import save_pruned
    from bertcore.interventions.what_if import parse_head

    chosen = sorted({parse_head(text) for text in [*(heads or []), *(more or [])]})
    bert = load(checkpoint, device="cpu")
    folder = save_pruned(bert, chosen, out)
    if as_json:
        print_json({"out": str(folder), "heads": [list(head) for head in chosen]})
        return
    names = ", ".join(f"{layer}.{head}" for layer, head in chosen)
    typer.echo(f"written to {folder} without {'head' if len(chosen) == 1 else 'heads'} {names}")
