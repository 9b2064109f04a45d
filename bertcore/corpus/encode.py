"""Encode a corpus on one machine: read, run, write, part by part."""

import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import bertcore
from bertcore.configs.encode import EncodeSettings, Unit
from bertcore.configs.numbers import DTYPES
from bertcore.corpus.batch import resolve_layers
from bertcore.corpus.cluster import Cluster, ClusterRun, check_cluster
from bertcore.corpus.parts import (
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
from bertcore.corpus.precision import SAMPLE_CHARACTERS, Precision, choose_precision
from bertcore.corpus.run import PART_BYTES, EncodeProgress, LocalRun, PartRun, Watch
from bertcore.corpus.texts import Corpus, CorpusText, open_corpus
from bertcore.model import Model
from bertcore.tokenizer import Pieces
from bertcore.tokenizer.truncation import MOST_CHARACTERS
from bertcore.training.provenance import (
    check_files,
    record_files,
    record_times,
)
from bertcore.training.run_lock import LOCK_FILE, lock_run

LOOK_AT_BYTES = 1_000_000
"""Bytes of the corpus that are read for it."""
LOOK_AT_TEXTS = 5_000
"""And most sentences of them."""
BYTES_OF_COLUMNS = 16
"""Of a row beside its vector, compressed: ours are 6 to 12, without a table's other columns."""
BYTES_OF_CHARACTER = 0.6
"""Of a text's character, compressed."""
MARGIN = 1.05
"""Of the estimate, that must be free."""


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
        model: The model that computes the vectors; it is not changed.
        paths: One or more files, as for `open_corpus`.
        out: New folder; `open_encoded` reads it.
        settings: None: tokens of the last layer.
        resume: Continue the encoding in `out`. Everything but `tokens_per_batch` must be unchanged.
        cluster: Workers that encode, on this machine or on many; None: this process encodes.
        part_bytes: Size of the vectors of one part in memory.
        on_note: Called with sentences on size, precision, and what was cut or left out.
        on_progress: Called after each batch.
        should_stop: Asked after each batch; True ends the run after its last complete part.

    Returns:
        The manifest; `complete` is False if the run was stopped.

    ValueError if the corpus cannot be read, has changed, or has no text; if `out` is not new, or
    the encoding to resume has another checkpoint, corpus or setting; if it would not fit on the
    disk, or another process writes there; if there is no such cluster. RuntimeError if the disk is
    full, or a vector is not finite. OSError if `out` cannot be written.
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
    estimate = estimate_size(corpus, model, layers, settings)
    on_note(estimate.sentence())
    if found is None:
        check_room(estimate, folder, settings.sample)
        precision = choose_precision(model, _sample(estimate.beginning), layers, settings)
        found = _begin(model, precision, corpus, layers, settings)
    else:
        dtype = found.dtype if found.dtype in DTYPES else settings.dtype
        precision = choose_precision(model, (), layers, replace(settings, dtype=dtype))
        if precision.dtype != found.dtype:
            raise ValueError(
                f"{str(folder)!r} was started in {found.dtype}, but {model.name!r} was opened in "
                f"{precision.dtype}. Open it in {found.dtype}."
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
            run = LocalRun(precision.model, corpus, folder, found, part_bytes, watch)
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
    precision: Precision,
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
        dtype=precision.dtype,
        precision=precision.sentence,
        agreements=[asdict(agreement) for agreement in precision.agreements],
        sources=record_files(corpus.paths),
        columns=("document", "sentence", *own, "start", "end", *others),
        version=bertcore.__version__,
    )


def _sample(texts: Sequence[str]) -> list[str]:
    """Return the first texts, for the comparison of both number formats."""
    sample, characters = [], 0
    for text in texts:
        sample.append(text)
        characters += len(text)
        if characters >= SAMPLE_CHARACTERS:
            break
    return sample


def _notes(corpus: Corpus, manifest: Manifest) -> list[str]:
    """Return sentences on what was cut or left out."""
    notes = []
    if not manifest.num_texts:
        notes.append(
            f"sample is {manifest.settings.sample:g}, which drew none of the sentences, so there "
            "is no vector. Use a larger share or another seed."
        )
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


@dataclass(frozen=True, slots=True)
class Estimate:
    """Rows and bytes of a whole corpus; exact if it was read to its end."""

    texts: int
    rows: int
    """Of a layer."""
    num_bytes: int
    """Of all layers."""
    is_exact: bool
    """Whether the corpus was read to its end, so that texts and rows are counted."""
    beginning: tuple[str, ...]
    """The texts that were looked at."""

    def sentence(self) -> str:
        about = "" if self.is_exact else "about "
        return (
            f"{about}{self.texts:,} sentences, {about}{self.rows:,} rows a layer: about "
            f"{readable_bytes(self.num_bytes)} on the disk."
        )


def estimate_size(
    corpus: Corpus, model: Model, layers: Sequence[int], settings: EncodeSettings
) -> Estimate:
    """Read the beginning of a corpus and estimate the size of all of it.

    Args:
        model: Tokenises the texts.
        settings: Unit, sample and special tokens are read.

    ValueError if there is no text in the corpus, or it cannot be read.
    """
    total = sum(path.stat().st_size for path in corpus.paths)
    done = 0

    def on_read(num_bytes: int) -> None:
        nonlocal done
        done += num_bytes

    beginning: list[CorpusText] = []
    stream = corpus.texts(on_read)
    is_exact = True
    for text in stream:
        beginning.append(text)
        if done >= LOOK_AT_BYTES or len(beginning) >= LOOK_AT_TEXTS:
            is_exact = False
            break
    if not beginning:
        names = ", ".join(repr(str(path)) for path in corpus.paths[:3])
        raise ValueError(f"the corpus {names} has no text. Give a file with sentences in it.")
    # If the reader has not reported its position yet, the texts' own bytes are counted as read.
    read = done or sum(len(text.text.encode()) + 1 for text in beginning)
    scale = settings.sample * (1.0 if is_exact else max(1.0, total / read))
    texts = [text.text for text in beginning]
    pieces = model.tokenizer.encode_pieces(texts)
    num_special = model.tokenizer.template(is_pair=False).num_special
    rows = sum(_num_rows(piece, settings.unit) for piece in pieces)
    if settings.special_tokens:
        rows += num_special * len(pieces)
    bytes_of_row = len(layers) * (2 * model.config.hidden_size + BYTES_OF_COLUMNS)
    of_texts = BYTES_OF_CHARACTER * sum(map(len, texts))
    return Estimate(
        texts=round(scale * len(texts)),
        rows=round(scale * rows),
        num_bytes=round(scale * (rows * bytes_of_row + of_texts)),
        is_exact=is_exact and settings.sample == 1,
        beginning=tuple(texts),
    )


def check_room(estimate: Estimate, folder: Path, sample: float) -> None:
    """Reject an encoding that will not fit on the disk, and name the share that will.

    Args:
        estimate: Of the share `sample`.
        folder: The target folder; it or its nearest existing parent is checked.
        sample: Requested share of the sentences.

    ValueError if there is too little free space.
    """
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    needed = MARGIN * estimate.num_bytes
    if needed <= free:
        return
    fraction = math.floor(100 * sample * free / needed) / 100
    advice = f"encode a sample of the sentences with --sample {fraction:g}, " if fraction else ""
    raise ValueError(
        f"the vectors take about {readable_bytes(estimate.num_bytes)}, and "
        f"{readable_bytes(free)} are free on the disk of {str(place)!r}. Free some space, "
        f"{advice}or choose fewer layers."
    )


def readable_bytes(num_bytes: float) -> str:
    """Return a size in units of 1000.

    >>> readable_bytes(51_200_000_000), readable_bytes(3_400_000), readable_bytes(900)
    ('51.2 GB', '3.4 MB', '900 bytes')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if num_bytes >= size:
            return f"{num_bytes / size:.1f} {unit}"
    return f"{num_bytes:.0f} bytes"


def _num_rows(pieces: Pieces, unit: Unit) -> int:
    if unit == "token":
        return len(pieces.ids)
    if unit == "word":
        return len(set(pieces.word_ids))
    return int(bool(pieces.ids))
