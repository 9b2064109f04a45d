"""Encode a corpus on one machine: read, run, write, part by part."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import bertcore
from bertcore.analysis.corpus.batch import in_format, resolve_layers
from bertcore.analysis.corpus.cluster import Cluster, ClusterRun, check_cluster
from bertcore.analysis.corpus.parts import (
    Manifest,
    about,
    check_checkpoint,
    check_whole,
    delete_leftovers,
    fingerprint_of_model,
    make_folders,
    read_manifest,
    write_manifest,
)
from bertcore.analysis.corpus.run import PART_BYTES, EncodeProgress, LocalRun, PartRun, Watch
from bertcore.analysis.corpus.texts import Corpus, open_corpus
from bertcore.configs.encode import EncodeSettings
from bertcore.configs.numbers import DTYPES
from bertcore.model.model import Model
from bertcore.model.tokenizer.truncation import MOST_CHARACTERS
from bertcore.training.engine.provenance import check_files, record_files, record_times
from bertcore.training.engine.run_lock import LOCK_FILE, lock_run


def encode_corpus(
    model: Model,
    paths: str | Path | Sequence[str | Path],
    out: str | Path,
    settings: EncodeSettings | None = None,
    *,
    resume: bool = False,
    cluster: Cluster | None = None,
    part_bytes: int = PART_BYTES,
    on_note: Callable[[str], None] = lambda sentence: None,
    on_progress: Callable[[EncodeProgress], None] = lambda progress: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Manifest:
    """Write the vectors of every token, word or sentence of a corpus to Parquet files.

    Memory does not grow with the corpus. The rows of a layer are in the order of the corpus. A run
    that was stopped or killed resumes after its last complete part, without losing or repeating a
    row.

    Args:
        paths: One or more files, as for `open_corpus`.
        out: New folder; `open_encoded` reads it.
        settings: None: tokens of the last layer.
        resume: Continue the encoding in `out`. Everything but `tokens_per_batch` must be unchanged.
        cluster: Workers that encode, on this machine or on many; None: this process encodes.
        on_note: Called with sentences on precision, and what was cut or left out.
        should_stop: Asked after each batch; True ends the run after its last complete part.

    Returns:
        The manifest; `complete` is False if the run was stopped.

    ValueError if the corpus cannot be read, has changed, or has no text; if `out` is not new, or
    the encoding to resume has another checkpoint, corpus or setting; if another process writes
    there; if there is no such cluster. RuntimeError if the disk is full, or a vector is not finite.
    OSError if `out` cannot be written.
    """
    folder, settings = Path(out), settings or EncodeSettings()
    files = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    layers = resolve_layers(settings.layers, model.config)
    if cluster is not None:
        check_cluster(cluster)
    corpus = open_corpus(
        files,
        text_column=settings.text_column,
        split=settings.split,
        skip_bad_rows=settings.skip_bad_rows,
    )
    found = read_manifest(folder) if resume else None
    if found is None:
        _check_new(folder)
    else:
        _check_same(found, folder, model, corpus, layers, settings)
        if found.complete:
            return found
    recorded = None if found is None or found.dtype not in DTYPES else found.dtype
    fitted, note = in_format(model, recorded or settings.dtype)
    dtype = str(fitted.dtype).removeprefix("torch.")
    if found is None:
        if next(corpus.texts(), None) is None:
            names = ", ".join(repr(str(path)) for path in files[:3])
            raise ValueError(f"the corpus {names} has no text. Give a file with sentences in it.")
        found = _begin(model, dtype, note, corpus, layers, settings)
    elif dtype != found.dtype:
        raise ValueError(
            f"{str(folder)!r} was started in {found.dtype}, but {model.name!r} was opened in "
            f"{dtype}. Open it in {found.dtype}."
        )
    on_note(found.precision)
    make_folders(folder, layers)
    with lock_run(about(folder)):
        if resume:
            found = read_manifest(folder)  # another process may have continued until now
            check_whole(folder, found)
        delete_leftovers(folder, found)
        write_manifest(folder, found)
        watch = Watch(on_progress, should_stop)
        run: PartRun
        if cluster is None:
            run = LocalRun(fitted, corpus, folder, found, part_bytes, watch)
        else:
            run = ClusterRun(cluster, model, corpus, folder, found, part_bytes, watch)
        if run.go():
            found.notes = _notes(corpus, found)
            found.complete = True
            write_manifest(folder, found)
            for note in found.notes:
                on_note(note)
    return found


def _check_new(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{str(folder)!r} is a file. Name a new folder.")
    # A run killed at the very beginning leaves only empty folders and a lock.
    names = {path.name for path in folder.rglob("*") if not path.is_dir()}
    if not names - {LOCK_FILE}:
        return
    advice = "Name a new folder."
    if (about(folder) / "manifest.json").is_file():
        whole = read_manifest(folder).complete
        advice = (
            "It contains a complete encoded corpus. Name a new folder."
            if whole
            else "Add --resume to continue the encoding in it, or name a new folder."
        )
    raise ValueError(f"{str(folder)!r} is not empty. {advice}")


def _check_same(
    found: Manifest,
    folder: Path,
    model: Model,
    corpus: Corpus,
    layers: tuple[int, ...],
    settings: EncodeSettings,
) -> None:
    """Refuse to continue with another checkpoint, corpus or setting."""
    check_checkpoint(found, model, f"{str(folder)!r}")
    old, new = asdict(found.settings), asdict(settings)
    old["layers"], new["layers"] = list(found.layers), list(layers)
    for name in new:
        if name != "tokens_per_batch" and old[name] != new[name]:
            raise ValueError(
                f"{str(folder)!r} was started with {name} {old[name]}, not {new[name]}. Continue "
                "with the old value, or encode the corpus into another folder."
            )
    paths = [record["path"] for record in found.sources]
    given = [record["path"] for record in record_times(corpus.paths)]
    if paths != given:
        raise ValueError(
            f"{str(folder)!r} was started with the corpus {', '.join(paths)}, not "
            f"{', '.join(given)}. Continue with that one, or encode this one into another folder."
        )
    check_files(found.sources, "corpus")


def _begin(
    model: Model,
    dtype: str,
    precision: str,
    corpus: Corpus,
    layers: tuple[int, ...],
    settings: EncodeSettings,
) -> Manifest:
    own = {
        "token": ("position", "word_id", "piece", "word"),
        "word": ("position", "word_id", "piece", "word"),
        "sentence": ("position",),
    }[settings.unit]
    others = [field.name for field in corpus.fields]
    return Manifest(
        checkpoint=str(Path(model.name).resolve()) if Path(model.name).is_dir() else model.name,
        fingerprint=fingerprint_of_model(model),
        tokenizer=model.tokenizer.fingerprint,
        family=model.config.family.name,
        hidden_size=model.config.hidden_size,
        max_length=model.max_length,
        layers=layers,
        settings=settings,
        dtype=dtype,
        precision=precision,
        sources=record_files(corpus.paths),
        columns=("document", "sentence", *own, "start", "end", *others),
        version=bertcore.__version__,
    )


def _notes(corpus: Corpus, manifest: Manifest) -> list[str]:
    """Return sentences on what was cut or left out."""
    notes = []
    in_windows = sum(part.in_windows for part in manifest.parts)
    if in_windows:
        texts = "1 sentence" if in_windows == 1 else f"{in_windows:,} sentences"
        notes.append(
            f"{texts} of more than {manifest.max_length:,} tokens ran in overlapping windows; a "
            "token has the vector of the window in which it is farther from the edge."
        )
    if corpus.num_cut:
        texts = "1 sentence" if corpus.num_cut == 1 else f"{corpus.num_cut:,} sentences"
        notes.append(f"{texts} of more than {MOST_CHARACTERS:,} characters had to be split.")
    if corpus.num_blank:
        rows = "1 row" if corpus.num_blank == 1 else f"{corpus.num_blank:,} rows"
        notes.append(f"{rows} without a text left out.")
    empty = sum(part.empty for part in manifest.parts)
    if empty:
        texts = "1 sentence" if empty == 1 else f"{empty:,} sentences"
        notes.append(
            f"{texts} consisting only of characters that the vocabulary drops have no row."
        )
    return [*notes, *corpus.bad_rows.notes()]
