"""Probes of a model during training: its state on a few fixed sentences, these, and their files."""

import math
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertcore.base.quantize import decoding_table
from bertcore.base.whole_files import whole_file

KINDS = {
    "n": "nouns",
    "v": "verbs",
    "d": "describing words",
    "p": "pronouns",
    "s": "small words",
    ".": "punctuation",
}
"""Meaning of the letters of `ProbeText.kinds`."""


@dataclass(frozen=True, slots=True)
class ProbeText:
    """A sentence or pair to watch; ValueError if the hidden word is not in text A."""

    text_a: str
    text_b: str | None = None
    hidden: str = ""
    """A word of text A, whose first occurrence is hidden for the masked-word question."""
    kinds: str = ""
    """One letter of KINDS for each word and punctuation mark of both texts; empty: not known."""

    def __post_init__(self) -> None:
        if not self.hidden or self.hidden not in self.text_a:
            raise ValueError(f"the hidden word {self.hidden!r} is not in {self.text_a!r}.")


@dataclass(frozen=True, slots=True, eq=False)
class SentenceProbe:
    """What the model computed for one sentence at one step."""

    text: ProbeText
    tokens: list[str]
    """The T tokens."""
    word_ids: list[int]
    """Index of each token's word, over both texts; -1 for added tokens. [T]"""
    masked: int
    """The position that is hidden for the masked-word question."""
    codes: NDArray[np.uint8]
    """Attention of the whole sentence, with nothing hidden, in bytes (`bertcore.base.quantize`);
    [L, H, T, T]."""
    hidden: NDArray[np.float16]
    """The last layer's vectors, with nothing hidden, [T, D]."""
    top_words: list[str]
    """The most probable pieces at the hidden position, the best first."""
    top_probabilities: list[float]
    probability: float
    """Probability of the hidden piece."""
    rank: int
    """Rank of the hidden piece; 1 is the best."""
    is_next: float | None
    """Probability that text B follows text A; None for a single text."""

    @property
    def attention(self) -> NDArray[np.float32]:
        """The weights, each within 0.003, [L, H, T, T]."""
        weights: NDArray[np.float32] = decoding_table()[self.codes]
        return weights

    @property
    def word(self) -> str:
        """The hidden piece."""
        return self.tokens[self.masked]


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """The probe of one step of a run."""

    step: int
    sentences: list[SentenceProbe]


def write_probe(folder: Path, probe: Probe) -> Path:
    """Write step-N.npz into a run's folder of probes, atomically."""
    arrays: dict[str, Any] = {"num_sentences": len(probe.sentences)}
    for index, sentence in enumerate(probe.sentences):
        text = sentence.text
        arrays |= {
            # None would need a pickle, so without a text B the array is shorter.
            f"text_{index}": np.array(
                [text.hidden, text.kinds, text.text_a, *([text.text_b] if text.text_b else [])]
            ),
            f"tokens_{index}": np.array(sentence.tokens),
            f"word_ids_{index}": np.array(sentence.word_ids, dtype=np.int32),
            f"attention_{index}": sentence.codes,
            f"hidden_{index}": sentence.hidden,
            f"top_words_{index}": np.array(sentence.top_words),
            f"top_probabilities_{index}": np.array(sentence.top_probabilities, dtype=np.float32),
            f"numbers_{index}": np.array(
                [
                    sentence.masked,
                    sentence.probability,
                    sentence.rank,
                    math.nan if sentence.is_next is None else sentence.is_next,
                ]
            ),
        }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"step-{probe.step}.npz"
    with whole_file(path) as partial, partial.open("wb") as out:
        np.savez_compressed(out, **arrays)
    return path


def probe_files(run: Path) -> dict[int, Path]:
    """Return the probe files of a run folder by step, the oldest first."""
    files = {
        int(path.stem[5:]): path
        for path in (run / "probes").glob("step-*.npz")
        if path.stem[5:].isdigit()
    }
    return dict(sorted(files.items()))


def read_probe(path: Path) -> Probe:
    """Read the probe of one step; RuntimeError if the file is damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            count = int(file["num_sentences"])
            return Probe(int(path.stem[5:]), [_sentence(file, index) for index in range(count)])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise RuntimeError(
            f"probe {str(path)!r} is damaged. Delete that file to see the others."
        ) from error


def read_probes(run: Path) -> list[Probe]:
    """Read all probes of a run folder, the oldest first; RuntimeError if a file is damaged."""
    return [read_probe(path) for path in probe_files(run).values()]


def _sentence(file: Any, index: int) -> SentenceProbe:
    hidden, kinds, text_a, *text_b = file[f"text_{index}"].tolist()
    masked, probability, rank, is_next = file[f"numbers_{index}"].tolist()
    return SentenceProbe(
        text=ProbeText(text_a, text_b[0] if text_b else None, hidden, kinds),
        tokens=file[f"tokens_{index}"].tolist(),
        word_ids=file[f"word_ids_{index}"].tolist(),
        masked=int(masked),
        codes=file[f"attention_{index}"],
        hidden=file[f"hidden_{index}"],
        top_words=file[f"top_words_{index}"].tolist(),
        top_probabilities=file[f"top_probabilities_{index}"].tolist(),
        probability=probability,
        rank=int(rank),
        is_next=None if math.isnan(is_next) else is_next,
    )


PROBE_TEXTS = (
    ProbeText("The old man sat by the fire and read his letter.", None, "man", "sdnvssnsvpn."),
    ProbeText("She gave her sister a new dress and a little book.", None, "her", "pvpnsdnssdn."),
    ProbeText("He said that he would not go to London with them.", None, "not", "pvspvsvsnsp."),
    ProbeText("The king and the queen lived in a house near the river.", None, "queen",
              "snssnvssnssn."),
    ProbeText("Her mother was ill for many days.", "At last the doctor came to the house.",
              "mother", "pnvdsdn.sssnvssn."),
    ProbeText("Her mother was ill for many days.", "Ships carry wheat over the sea.",
              "mother", "pnvdsdn.nvnssn."),
)  # fmt: skip
"""Plain English, in words that any English vocabulary has. In the first of the two pairs, the
sentences belong together; in the second, they do not."""
