"""The disk space of an encoding, estimated from the beginning of the corpus."""

import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bertcore.configs.encode import EncodeSettings, Unit
from bertcore.data.corpus import Corpus, CorpusText
from bertcore.model import Model
from bertcore.tokenizer import Pieces

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
    share = _round_down(sample * free / needed)
    advice = "Free some space, or choose fewer layers"
    if share > 0:
        taken = readable_bytes(round(estimate.num_bytes * share / sample))
        advice = (
            f"Encode a sample of the sentences with --sample {share:g} (about {taken}), choose "
            "fewer layers, or free some space"
        )
    raise ValueError(
        f"the vectors take about {readable_bytes(estimate.num_bytes)}, and "
        f"{readable_bytes(free)} are free on the disk of {str(place)!r}. {advice}."
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


def _round_down(share: float) -> float:
    """Return a share with one digit.

    >>> _round_down(0.0587), _round_down(0.7), _round_down(0.0)
    (0.05, 0.7, 0.0)
    """
    if share <= 0:
        return 0.0
    digits = -math.floor(math.log10(share))
    size = 10.0**digits
    return round(math.floor(share * size + 1e-9) / size, digits)


def _num_rows(pieces: Pieces, unit: Unit) -> int:
    if unit == "token":
        return len(pieces.ids)
    if unit == "word":
        return len(set(pieces.word_ids))
    return int(bool(pieces.ids))
