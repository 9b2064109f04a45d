"""`bertscope inspect` and `bertscope evaluate`: what a checkpoint holds, and how good it is.

Heavy libraries are imported inside the commands, so that `bertscope --help` answers at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bertcore.cli.evaluate_task import evaluate_task
from bertcore.cli.finetune import TASKS_HELP
from bertcore.cli.options import (
    LabelColumn,
    SkipBadRows,
    TextColumn,
    TextPairColumn,
    refuse_options,
)
from bertcore.cli.output import make_table, plain, print_json, print_table
from bertcore.cli.progress import stages
from bertcore.cli.text import AsJson, Device
from bertcore.cli.text import Checkpoint as CheckpointOption

if TYPE_CHECKING:
    from rich.table import Table

    from bertcore import Model
    from bertcore.analysis.health.checkpoint_doctor import Diagnosis
    from bertcore.pretraining import Batch, PretrainingScores

MASKED_WORDS = "mlm"
"""The task of `bertscope evaluate` that is not one of fine-tuning."""
_ONLY_MLM = {"rows", "dtype", "objective"}
_ONLY_FINETUNED = {
    "text",
    "text_pair",
    "label",
    "skip_bad_rows",
    "null_threshold",
    "predictions",
}
Checkpoint = Annotated[
    str, typer.Argument(help="'default', a folder, or a hub id such as bert-base-uncased.")
]
AllowPickle = Annotated[
    bool,
    typer.Option(
        "--allow-pickle",
        help="Read a pytorch_model.bin (weights only) if there is no safetensors file.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this file to the command line."""
    app.command("inspect")(inspect)
    app.command("evaluate")(evaluate)


def inspect(
    checkpoint: Checkpoint, as_json: AsJson = False, allow_pickle: AllowPickle = False
) -> None:
    """Open a checkpoint and report what was found, mended, missing and not used; then examine it:
    do weights and attention look trained, random or collapsed?

    \b
    Examples:
      bertscope inspect default
      bertscope inspect runs/mine/checkpoints/step-1000
      bertscope inspect ./my-fine-tuned-bert --json
    """
    from bertcore import load
    from bertcore.analysis.health.checkpoint_doctor import examine

    bert = load(checkpoint, device="cpu", allow_pickle=allow_pickle)
    found = examine(bert)
    if as_json:
        assert bert.report is not None  # load always gives one
        values = {
            **bert.report.to_dict(),
            "config": bert.config.to_hf_dict(),
            "doctor": found.to_dict(),
        }
        print_json(values)
        return
    from rich.console import Console

    console = Console()
    console.print(report_table(bert, found))


def report_table(bert: Model, found: Diagnosis) -> Table:
    """Return shape, load report and diagnosis of a checkpoint as a table of two columns."""
    from rich.table import Table
    from rich.text import Text

    report, config = bert.report, bert.config
    assert report is not None  # load always gives one
    table = Table(title=Text(report.source), show_header=False, title_justify="left")
    table.add_column("what", no_wrap=True)
    table.add_column("value", overflow="fold")
    rows = {
        "Folder": str(Path(report.folder)),
        "Shape": (
            f"{config.num_hidden_layers} layers, {config.hidden_size} wide, "
            f"{config.num_attention_heads} heads, feed-forward {config.intermediate_size}, "
            f"{config.max_position_embeddings} positions, {config.hidden_act}"
        ),
        "Report": "\n".join(report.sentences()),
        "Missing": _shapes(report.missing),
        "Task heads": _shapes(report.task_heads),
        "Not used": _shapes(report.unexpected),
        "Wrong shape": "\n".join(
            f"{name} {list(came)}, expected {list(expected)}"
            for name, (came, expected) in report.mis_shaped.items()
        ),
        "Doctor": "\n".join(found.sentences()),
    }
    for what, value in rows.items():
        if value:
            # Text, since names from strangers may hold what rich takes for markup.
            table.add_row(what, Text(value))
    return table


def _shapes(tensors: dict[str, tuple[int, ...]]) -> str:
    return "\n".join(f"{name} {list(shape)}" for name, shape in tensors.items())


def evaluate(
    context: typer.Context,
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            help="mlm: held-out text (.txt, .xz, .gz), a paragraph a line, a blank line between "
            "documents. Other tasks: labelled examples, as for bertscope finetune.",
        ),
    ],
    task: Annotated[
        str, typer.Option("--task", help=f"mlm: masked words and next sentences; {TASKS_HELP}")
    ] = "mlm",
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            help="mlm+nsp: on sentence pairs; mlm: masked words alone, on rows packed full of "
            "text; auto: as the checkpoint's heads allow.",
        ),
    ] = "auto",
    checkpoint: CheckpointOption = "default",
    rows: Annotated[int, typer.Option("--rows", min=1, help="mlm: rows to score, at most.")] = 512,
    max_seq_length: Annotated[
        int | None,
        typer.Option(
            "--max-seq-length",
            help="Longest input in tokens; default: that of the fine-tuning, mlm: 128.",
        ),
    ] = None,
    text: TextColumn = None,
    text_pair: TextPairColumn = None,
    label: LabelColumn = None,
    skip_bad_rows: SkipBadRows = False,
    null_threshold: Annotated[
        float,
        typer.Option(
            "--null-threshold", help="qa: no answer where it is so much better, in logits."
        ),
    ] = 0.0,
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", help="Write a JSON line for each example to this file."),
    ] = None,
    device: Device = "auto",
    dtype: Annotated[
        str, typer.Option("--dtype", help="mlm: auto (float32), bfloat16, float16.")
    ] = "auto",
    as_json: AsJson = False,
) -> None:
    """Score a checkpoint on held-out text or on labelled examples.

    mlm takes fixed rows and fixed masks (15%, 80/10/10), and without a next-sentence head scores
    masked words alone; the other tasks need a fine-tuned checkpoint, of bertscope finetune or of
    transformers, and score with 95% intervals.

    \b
    Examples:
      bertscope evaluate --task mlm --data held-out.txt
      bertscope evaluate --data held-out.txt --checkpoint runs/mine/checkpoints/step-1000 --json
      bertscope evaluate --task classify --checkpoint sst2 --data dev.tsv
      bertscope evaluate --task qa --checkpoint squad --data dev.json --predictions answers.jsonl
    """
    if task != MASKED_WORDS:
        from bertcore.finetuning import TASKS, Columns

        if task not in TASKS:
            names = ", ".join((MASKED_WORDS, *TASKS))
            raise ValueError(f"--task is {task!r}; this version scores {names}.")
        refuse_options(context, _ONLY_MLM, "it is for --task mlm")
        evaluate_task(
            task,
            checkpoint,
            data,
            columns=Columns(text=text, text_pair=text_pair, label=label),
            max_seq_length=max_seq_length,
            skip_bad_rows=skip_bad_rows,
            null_threshold=null_threshold,
            predictions=predictions,
            device=device,
            as_json=as_json,
        )
        return
    refuse_options(context, _ONLY_FINETUNED, "it is for fine-tuned checkpoints")
    from bertcore import load
    from bertcore.bert import with_parts
    from bertcore.pretraining import (
        DataConfig,
        evaluate_pretraining,
        fixed_batches,
        pack_corpus,
        read_sentences,
    )
    from bertcore.pretraining.run import HELD_OUT_SEED

    next(read_sentences([data]), None)  # before the checkpoint is opened
    bert = with_parts(load(checkpoint, device=device, dtype=dtype))
    limit = bert.config.max_position_embeddings
    length = min(128, limit) if max_seq_length is None else max_seq_length
    if length > limit:
        raise ValueError(
            f"--max-seq-length is {length}, but this checkpoint has {limit} positions. Lower it."
        )
    can_pair = "nsp" in bert.capabilities and bert.config.type_vocab_size >= 2
    if objective == "auto":
        objective = "mlm+nsp" if can_pair else "mlm"
    config = DataConfig.for_length(length, objective=objective)
    if config.has_pairs and bert.config.type_vocab_size < 2:
        raise ValueError(
            "this checkpoint has no second segment, so it cannot be given pairs. "
            "Leave --objective out, or make it mlm."
        )
    with stages() as on_stage:
        on_stage("reading the text", None)
        corpus = pack_corpus(read_sentences([data]), bert.tokenizer)
        batches = list(
            fixed_batches(corpus, bert.tokenizer, config, seed=HELD_OUT_SEED, num_rows=rows)
        )

        def counted() -> Iterator[Batch]:
            for number, batch in enumerate(batches):
                on_stage("scoring", number / len(batches))
                yield batch

        scores = evaluate_pretraining(bert.module, counted(), bert.tokenizer)
    if as_json:
        about = {"task": task, "checkpoint": checkpoint, "data": str(data)}
        print_json({**about, "objective": objective, "max_seq_length": length, **scores.to_dict()})
        return
    print_table(scores_table(scores))


def scores_table(scores: PretrainingScores) -> Table:
    """Return held-out scores as a table of three columns: measure, value, what it means."""
    table = make_table("measure", "value", "note", right=("value",))
    rows = "rows of packed text" if scores.num_pairs is None else "pairs"
    table.title = plain(f"{scores.num_rows:,} {rows}, {scores.num_masked:,} hidden tokens")
    table.title_justify = "left"
    perplexity = math.exp(min(scores.mlm_loss, 700.0))
    found = [
        ("masked-word loss", f"{scores.mlm_loss:.3f}", f"nats; perplexity {perplexity:,.1f}"),
        ("masked-word top-1", f"{scores.mlm_top1:.1%}", "the most probable word is the right one"),
    ]
    if scores.share_random is not None:
        chance = max(scores.share_random, 1 - scores.share_random)
        found += [
            ("next-sentence loss", f"{scores.nsp_loss:.3f}", "nats; 0.693 is guessing"),
            (
                "next-sentence accuracy",
                f"{scores.nsp_accuracy:.1%}",
                f"one answer for all: {chance:.1%}",
            ),
        ]
    bits = ("bits per character", f"{scores.bits_per_character:.3f}", "of the hidden tokens")
    for row in (*found, bits):
        table.add_row(*row)
    return table
