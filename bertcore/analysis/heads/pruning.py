"""Prune heads permanently: they have no effect in the saved checkpoint, in any program."""

import copy
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from bertcore.base.whole_files import write_whole
from bertcore.bert import Bert, with_parts
from bertcore.checkpoints.folder import card_parts
from bertcore.checkpoints.save import save, zeroed_heads
from bertcore.interventions.what_if import check_heads
from bertcore.model import Model
from bertcore.tasks.checkpoint_head import stored_task_fields, stored_task_head

CARD = "README.md"
_HOW = """\
A removed head outputs nothing: its columns of the attention's output projection are zero, and so
are its rows of the value projection (Michel et al. 2019 set the same head's mask to 0). The shape
is kept, so the files are no smaller and run no faster: `transformers` takes the width of a head to
be `hidden_size / num_attention_heads`, the same in all layers, and cannot open a BERT with fewer
heads. `zeroed_heads` in config.json names them by layer; other programs can ignore it.
"""


@torch.no_grad()
def prune(bert: Model, heads: Iterable[tuple[int, int]]) -> Bert:
    """Return a copy of a BERT whose `heads` have no effect; the original is not changed.

    Its outputs equal, up to rounding, those of `trace` with these heads off. The heads' queries and
    keys stay, so their attention can still be seen.

    Args:
        heads: (layer, head), counted from 0; at least one.

    ValueError if there is none, one does not exist, or all layers are shared (ALBERT) and a head is
    not named in each of them.

    Source: Michel et al. 2019, section 4. Differs: the shape is kept (see the saved model card).
    """
    removed = sorted(set(heads))
    if not removed:
        raise ValueError("no head was chosen. Name at least one, such as 0.3.")
    bert = with_parts(bert)
    check_heads(removed, bert.config)
    _check_shared(removed, bert)
    network = copy.deepcopy(bert.module)
    width = bert.config.head_size
    for layer, head in removed:
        block = network.layers[layer].attention
        rows = slice(head * width, (head + 1) * width)
        for part in block.value_rows():
            if part is not None:
                part[rows] = 0
        block.output.weight[:, rows] = 0
    return Bert(
        network,
        bert.tokenizer,
        name=f"{bert.name}, pruned",
        report=bert.report,
        sentence_modules=bert.sentence_modules,
    )


def _check_shared(heads: Sequence[tuple[int, int]], bert: Model) -> None:
    """Reject the removal of a head of a shared layer from only some of its runs."""
    num_layers = bert.config.num_hidden_layers
    if not bert.config.share_layers:
        return
    for head in sorted({head for _, head in heads}):
        if sum(other == head for _, other in heads) < num_layers:
            every = ",".join(f"{layer}.{head}" for layer in range(num_layers))
            raise ValueError(
                f"{bert.config.family.name} runs one layer {num_layers} times, so head {head} is "
                f"removed from all of them or from none. Name it in each: {every}."
            )


def save_pruned(bert: Model, heads: Iterable[tuple[int, int]], folder: str | Path) -> Path:
    """Save a copy of a BERT without `heads`, with a model card that lists them; return its folder.

    It opens in `transformers` and here, and config.json names the heads. A task head is kept.
    ValueError if a head does not exist, or `folder` exists and is not empty. RuntimeError if the
    files of the task head changed since the checkpoint was opened.
    """
    target = Path(folder).expanduser().resolve()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ValueError(f"{target} already exists. Choose a new folder for the pruned checkpoint.")
    pruned = prune(bert, heads)
    # A fine-tuned checkpoint keeps its task head: without it, it could not answer.
    task_head = {name: tensor.to(bert.dtype) for name, tensor in stored_task_head(bert).items()}
    save(
        pruned.module,
        pruned.tokenizer,
        target,
        more_weights=task_head,
        more_config=stored_task_fields(bert) if task_head else None,
    )
    write_whole(target / CARD, card(bert, pruned))
    return target


def card(bert: Model, pruned: Bert) -> str:
    """Return the model card of a pruned checkpoint; the card of the original, if any, follows."""
    head, body = ("", "") if bert.report is None else card_parts(bert.report.folder)
    config = bert.config
    gone = zeroed_heads(pruned.module)
    count = sum(len(heads) for heads in gone.values())
    whole = config.num_hidden_layers * config.num_attention_heads
    lines = [f"- layer {layer}: {', '.join(map(str, heads))}" for layer, heads in gone.items()]
    parts = [
        f"# {Path(bert.name).name}, {count} of {whole} attention heads removed",
        "Made with BertScope (page *What if?*). Layers and heads count from 0.",
        "\n".join(lines),
        _HOW.rstrip(),
    ]
    if body:
        parts += ["Below is the card of the original checkpoint.", body]
    return head + "\n\n".join(parts) + "\n"
