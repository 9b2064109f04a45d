"""A baseline without grammar: the frequency of a sentence's pieces in a corpus."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bertcore.base.links import read_file
from bertcore.model import Model
from bertcore.tokenizer import Encoding, Tokenizer

COUNTS_FILE = "token_counts.txt"
"""In a checkpoint's folder, or in `data` of its run: how often each piece of vocab.txt was in the
training text, a number a line."""
_MAX_BYTES = 50_000_000
_BLOCK = 2**20


@dataclass(frozen=True, slots=True, eq=False)
class TokenCounts:
    """How often each piece of a vocabulary occurs in a text."""

    counts: NDArray[np.int64]
    """[V]"""

    @classmethod
    def of_ids(cls, ids: NDArray[np.generic], vocab_size: int) -> Self:
        """Count the ids of a corpus.

        Args:
            ids: Below `vocab_size`, [N]; may be memory-mapped, and is read in blocks.
            vocab_size: V.
        """
        counts = np.zeros(vocab_size, dtype=np.int64)
        for start in range(0, len(ids), _BLOCK):
            block = ids[start : start + _BLOCK].astype(np.int64)
            counts += np.bincount(block, minlength=vocab_size)
        return cls(counts)

    @classmethod
    def open(cls, folder: Path, tokenizer: Tokenizer) -> Self | None:
        """Return the counts of a checkpoint's folder, or of the run to which it belongs, or None.

        RuntimeError if the file does not have a number for each piece.
        """
        places = [folder / COUNTS_FILE, folder.parent.parent / "data" / COUNTS_FILE]
        path = next((place for place in places if place.is_file()), None)
        if path is None:
            return None
        try:
            text = read_file(path, _MAX_BYTES).decode("ascii")
            counts = np.array(text.split(), dtype=np.int64)
        except (ValueError, OverflowError) as error:
            raise RuntimeError(
                f"{str(path)!r} does not have one whole number per line. Delete it to do without."
            ) from error
        if len(counts) != tokenizer.vocab_size or (counts < 0).any():
            raise RuntimeError(
                f"{str(path)!r} has {len(counts):,} counts; expected {tokenizer.vocab_size:,}, "
                "one for each piece of the vocabulary, of 0 or more. Delete it to do without."
            )
        return cls(counts)

    @classmethod
    def of_checkpoint(cls, bert: Model) -> Self | None:
        """Return the counts that are stored beside a checkpoint, or None.

        RuntimeError if the file does not have a number for each piece.
        """
        if bert.report is None:
            return None
        return cls.open(Path(bert.report.folder), bert.tokenizer)

    def save(self, folder: Path) -> None:
        """Write the counts to a checkpoint's folder."""
        lines = "".join(f"{count}\n" for count in self.counts.tolist())
        (folder / COUNTS_FILE).write_text(lines, encoding="ascii")

    @property
    def entropy(self) -> float:
        """The entropy of the pieces' frequencies, nats.

        At this masked-word loss, a model predicts frequent words regardless of context: the plateau
        that small BERTs have to leave. ValueError if there is no token.

        >>> round(TokenCounts(np.array([0, 2, 2])).entropy, 4)  # two equally frequent words: ln 2
        0.6931
        """
        if not self.counts.any():
            raise ValueError("the corpus has no token, so it has no word frequencies.")
        frequencies = self.counts[self.counts > 0] / self.counts.sum()
        return float(-(frequencies * np.log(frequencies)).sum())

    def log_likelihood(self, encoding: Encoding) -> float:
        """Return the log-probability of a text if each piece were drawn by its frequency, in nats.

        One is added to each count, so that a piece that never occurred is unlikely, not impossible.
        """
        ids = [
            token_id
            for token_id, added in zip(
                encoding.input_ids, encoding.special_tokens_mask, strict=True
            )
            if not added
        ]
        total = self.counts.sum() + len(self.counts)
        return float((np.log(self.counts[ids] + 1) - np.log(total)).sum())
