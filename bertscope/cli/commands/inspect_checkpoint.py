"""`bertscope inspect`: what a checkpoint contains, and whether it looks trained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bertscope.cli.commands.text import AsJson, Checkpoint
from bertscope.cli.output import counted, plain, print_json, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from bertcore import Model
    from bertcore.analysis.health.checkpoint_doctor import Diagnosis


def inspect(
    checkpoint: Checkpoint = "default",
    as_json: AsJson = False,
    allow_pickle: bool = False,
    texts: Path | None = None,
) -> None:
    """Open a checkpoint and report what was found, repaired, missing and unused; then check whether
    its weights and attention look trained, random or collapsed, and belong to the vocabulary.

    Args:
        allow_pickle: Read a pytorch_model.bin (weights only) if there is no safetensors file; if
            there is one, compare the two.
        texts: Plain sentences in the checkpoint's language, one per line, whose words it guesses;
            default: English ones.

    \b
    Examples:
      bertscope inspect
      bertscope inspect --checkpoint runs/mine/checkpoints/step-1000
      bertscope inspect --checkpoint ./my-fine-tuned-bert --json
      bertscope inspect --checkpoint ./my-korean-bert --texts korean.txt
    """
    from bertcore import load
    from bertcore.analysis.heads.texts import read_texts
    from bertcore.analysis.health.checkpoint_doctor import examine
    from bertcore.base.json_data import plain_data
    from bertscope.cli.files import read_whole

    sentences = [] if texts is None else read_texts(*read_whole(texts)).sentences
    bert = load(checkpoint, device="cpu", allow_pickle=allow_pickle)
    diagnosis = examine(bert, plain=[sentence.text for sentence in sentences])
    assert bert.report is not None  # load always gives one
    if as_json:
        values = {
            **bert.report.to_dict(),
            "config": bert.config.to_hf_dict(),
            "doctor": {"sentences": diagnosis.sentences(), **plain_data(diagnosis)},
        }
        print_json(values)
        return
    print_table(report_table(bert, diagnosis))


def report_table(bert: Model, diagnosis: Diagnosis) -> Table:
    """Return shape, load report and diagnosis of a checkpoint as a table of two columns."""
    from rich.table import Table
    from rich.text import Text

    report, config = bert.report, bert.config
    assert report is not None  # load always gives one
    table = Table(title=plain(report.source), show_header=False, title_justify="left")
    table.add_column("what", no_wrap=True)
    table.add_column("value", overflow="fold")
    rows = {
        "Folder": str(Path(report.folder)),
        "Shape": (
            f"{counted(config.num_hidden_layers, 'layer')}, {config.hidden_size} wide, "
            f"{counted(config.num_attention_heads, 'head')}, "
            f"feed-forward {config.intermediate_size}, "
            f"{counted(config.max_position_embeddings, 'position')}, {config.hidden_act}"
        ),
        "Report": "\n".join(report.sentences()),
        "Missing": _shapes(report.missing),
        "Task heads": _shapes(report.task_heads),
        "Not used": _shapes(report.unexpected),
        "Wrong shape": "\n".join(
            f"{name} {list(came)}, expected {list(expected)}"
            for name, (came, expected) in report.mis_shaped.items()
        ),
        "Doctor": "\n".join(diagnosis.sentences()),
    }
    for what, value in rows.items():
        if value:
            table.add_row(what, Text("\n").join(map(plain, value.splitlines())))
    return table


def _shapes(tensors: dict[str, tuple[int, ...]]) -> str:
    return "\n".join(f"{name} {list(shape)}" for name, shape in tensors.items())
