"""`bertscope encode`: a folder with the vectors of a corpus, or a file with one for each line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bertcore.base.durations import duration
from bertcore.configs import EncodeSettings
from bertscope.cli.commands.text import AsJson, Checkpoint, Device
from bertscope.cli.options import config_options, field_names, is_typed, refuse_options
from bertscope.cli.output import print_json
from bertscope.cli.progress import how_to_resume, live_run

if TYPE_CHECKING:
    from bertcore.analysis.corpus import Cluster, EncodeProgress

_RECORDED = field_names(EncodeSettings) - {"tokens_per_batch"}  # options that the folder records
_ONLY_FOLDER = {"unit", "text_column", "split", "skip_bad_rows", "tokens_per_batch", "resume"}


@config_options((EncodeSettings, "layers unit text_column split skip_bad_rows tokens_per_batch"))
def encode(
    context: typer.Context,
    out: Path,
    corpus: Annotated[list[Path] | None, typer.Argument(metavar="CORPUS...")] = None,
    checkpoint: Checkpoint = "default",
    device: Device = "auto",
    dtype: str = "auto",
    pooling: str | None = None,
    as_json: AsJson = False,
    resume: bool = False,
    cluster: Annotated[str | None, typer.Option(metavar="local|ADDRESS")] = None,
    workers: Annotated[int | None, typer.Option(min=1)] = None,
    **values: Any,
) -> None:
    """Encode a corpus as vectors of its tokens, words or sentences, at chosen layers.

    Memory does not grow with the corpus, and Ctrl+C stops after the current part. If --out ends in
    .npy, it gets one vector for each line of a text.

    Args:
        out: New folder for Parquet files, or a .npy file (float32 [N, D]).
        corpus: Text (a paragraph or sentence per line, a blank line between documents; .gz and .xz
            too) or tables (.csv, .tsv, .jsonl, .parquet).
        dtype: bfloat16, float32, or auto: for a folder, bfloat16 if the processor computes in
            it; for a .npy file, float32.
        pooling: Of a word's pieces: mean, first, last or max; of a sentence: mean (of all tokens),
            cls, max, ... Default: mean; for a .npy file, the checkpoint's own modules, if any.
        resume: Resume what was stopped or killed; CORPUS and options come from the folder.
        cluster: Use Ray workers (pip install 'bertscope[scale]'): on this machine, or on the
            cluster at host:port.
        workers: Number of Ray workers. Default: one per GPU, or else one per processor core.

    \b
    Examples:
      bertscope encode books.txt --layers 0 2 4 --out vectors
      bertscope encode reviews.csv --unit sentence --out reviews
      bertscope encode --out vectors --resume
      bertscope encode books.txt --out vectors --cluster local --workers 4
      bertscope encode sentences.txt --layers 2 --out vectors.npy
    """
    if out.suffix.lower() == ".npy":
        options = {*_ONLY_FOLDER, "cluster", "workers"}
        refuse_options(context, options, "--out is a .npy file; name a folder for a corpus")
        files, layers = corpus or [], values.get("layers", (-1,))
        if len(files) != 1 or len(layers) != 1:
            raise ValueError(
                f"--out is {str(out)!r}, which takes one text file and one layer, but "
                f"{len(files)} and {len(layers)} were given. Name a folder for more."
            )
        encode_lines(files[0], out, checkpoint, device, dtype, layers[0], pooling, as_json=as_json)
        return
    from bertcore.analysis.corpus.cluster import Cluster
    from bertcore.analysis.corpus.parts import read_manifest

    if cluster is None:
        refuse_options(context, ("workers",), "there is no --cluster")
    many = None if cluster is None else Cluster(cluster, workers)
    if resume:
        refuse_options(context, _RECORDED, "--resume uses the options that the folder records")
        recorded = read_manifest(out)
        settings = replace(recorded.settings, **values)
        corpus = corpus or [Path(source["path"]) for source in recorded.sources]
        if not is_typed(context, "checkpoint"):
            checkpoint = recorded.checkpoint
    elif corpus:
        settings = EncodeSettings(pooling=pooling or "mean", dtype=dtype, **values)
    else:
        raise ValueError("no corpus was given. Name at least one file.")
    encode_folder(out, corpus, checkpoint, device, settings, many, resume=resume, as_json=as_json)


def encode_folder(
    out: Path,
    corpus: Sequence[Path],
    checkpoint: str,
    device: str,
    settings: EncodeSettings,
    cluster: Cluster | None,
    *,
    resume: bool,
    as_json: bool,
) -> None:
    """Encode a corpus with a progress bar; Ctrl+C stops after a part, a second one at once."""
    from bertcore import load
    from bertcore.analysis.corpus import encode_corpus

    bert = load(checkpoint, device=device)
    with live_run() as live:
        manifest = encode_corpus(
            bert,
            corpus,
            out,
            settings,
            resume=resume,
            cluster=cluster,
            on_note=live.say,
            on_progress=lambda progress: live.show(progress.fraction, describe(progress)),
            should_stop=live.should_stop,
        )
        if manifest.complete:
            live.show(1.0, "done")
    if as_json:
        about = {"out": str(out), "rows": manifest.num_rows, "sentences": manifest.num_texts}
        names = "complete layers unit hidden_size dtype notes".split()
        print_json(about | {name: getattr(manifest, name) for name in names})
    else:
        typer.echo(
            f"{manifest.num_rows:,} {manifest.unit} vectors of width {manifest.hidden_size} from "
            f"{manifest.num_texts:,} sentences, layers {', '.join(map(str, manifest.layers))}, in "
            f"{out}"
        )
        if not manifest.complete:
            typer.echo(f"Stopped. {how_to_resume('encode', out)}")
    if not manifest.complete:
        raise typer.Exit(130)


def encode_lines(
    file: Path,
    out: Path,
    checkpoint: str,
    device: str,
    dtype: str,
    layer: int,
    pooling: str | None,
    *,
    as_json: bool,
) -> None:
    """Write one vector for each line of a text as NPY, float32 [N, D]; leave out blank lines."""
    import numpy as np

    from bertcore import load
    from bertcore.data.files import find_encoding, lines_of, open_text
    from bertscope.cli.files import check_target, write_whole

    check_target(out)
    with open_text(file) as opened:
        lines = [line.strip() for line in lines_of(opened, file)]
    texts = [line for line in lines if line]
    if not texts:
        raise ValueError(f"{str(file)!r} has no text. Write one text per line.")
    if (encoding := find_encoding(file)).is_guessed:
        typer.echo(f"Note: {str(file)!r} was read as {encoding.title}.", err=True)
    bert = load(checkpoint, device=device, dtype=dtype)
    vectors = bert.encode(texts, layer=layer, pooling=pooling).numpy()
    content = BytesIO()
    np.save(content, vectors)
    write_whole(out, content.getvalue())
    num_blank = len(lines) - len(texts)
    if as_json:
        print_json({"out": str(out), "shape": list(vectors.shape), "num_blank_lines": num_blank})
        return
    blank = f"; blank lines left out: {num_blank}" if num_blank else ""
    typer.echo(f"{len(texts):,} vectors of width {vectors.shape[1]} written to {out}{blank}")


def describe(progress: EncodeProgress) -> str:
    """Return speed and time left."""
    speed, left = progress.tokens_per_second, progress.seconds_left
    parts = [
        "" if speed is None else f"{speed:,.0f} tokens/s",
        f"{progress.num_rows:,} rows written",
        "" if left is None else f"{duration(left)} left",
    ]
    return ", ".join(filter(None, parts))
