"""Probes of a model during training: its state on a few fixed sentences, these, and their files."""

import math
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.base.quantize import decoding_table, quantize
from bertcore.base.whole_files import whole_file
from bertcore.model.network import Network, attention_explicit
from bertcore.model.tokenizer import Encoding, Tokenizer

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
    """A sentence or pair to watch."""

    text_a: str
    text_b: str | None = None
    hidden: str = ""
    """A word of text A, whose first occurrence is hidden for the masked-word question."""
    kinds: str = ""
    """One letter of KINDS for each word and punctuation mark of both texts; empty: not known."""


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


TOP_K = 5
"""Number of predictions kept for each hidden word."""
MIN_STEP_GROWTH = 0.005
"""Minimum distance between two probes as a fraction of the steps so far: 200 probes until
evaluations are closer than that, and few more after."""


@torch.no_grad()
def take_probe(
    network: Network, tokenizer: Tokenizer, step: int, texts: Sequence[ProbeText] = PROBE_TEXTS
) -> Probe:
    """Probe the network on all sentences, each whole and with its hidden word, in one batch.

    Runs in float32 and evaluation mode, whatever the mode of training, which is restored; draws no
    random numbers. Without a next-sentence head, pairs get no answer; a causal network predicts the
    hidden word from the words before it. Sentences longer than the position table are truncated.

    ValueError if a weight is not a number.
    """
    limit = min(network.config.max_length, tokenizer.model_max_length)
    encodings = [tokenizer.encode(t.text_a, t.text_b, max_length=limit) for t in texts]
    masked = [_masked_position(e, t) for e, t in zip(encodings, texts, strict=True)]
    # A causal network predicts a token at the place before it, where it has not seen it.
    is_causal = network.config.is_decoder
    asked = [place - is_causal for place in masked]
    logits = network.next_logits if is_causal else network.mlm_logits
    device = network.token_table.device
    ids, segments, mask = _batch(encodings, masked, tokenizer)
    segments = segments.clamp(max=network.config.type_vocab_size - 1)  # some have only one
    weights: list[Tensor] = []

    def keep(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, dropout: float) -> Tensor:
        context, layer_weights = attention_explicit(q, k, v, bias)
        weights.append(layer_weights[: len(texts)])
        return context

    was_training = network.training
    network.eval()
    try:
        with torch.autocast(device.type, enabled=False):
            hidden = network(
                ids.to(device), segments.to(device), mask.to(device), attention=keep
            ).float()
            at_masks = hidden[len(texts) :][torch.arange(len(texts)), asked]
            words = torch.softmax(logits(at_masks).float(), -1)[:, : tokenizer.vocab_size].cpu()
            is_next = None
            if network.nsp is not None:
                pair_logits = network.nsp_logits(hidden[: len(texts)]).float()
                is_next = torch.softmax(pair_logits, -1)[:, 0].tolist()
    finally:
        network.train(was_training)
    attention = quantize(torch.stack(weights, 1))  # [N, L, H, T, T]
    vectors = hidden[: len(texts)].cpu().to(torch.float16).numpy()
    top = words.topk(min(TOP_K, words.shape[-1]))
    sentences = []
    for index, (text, encoding) in enumerate(zip(texts, encodings, strict=True)):
        size, right = len(encoding), encoding.input_ids[masked[index]]
        probability = words[index, right]
        sentences.append(
            SentenceProbe(
                text=text,
                tokens=list(encoding.tokens),
                word_ids=list(encoding.word_ids),
                masked=masked[index],
                codes=attention[index, :, :, :size, :size],
                hidden=vectors[index, :size],
                top_words=[tokenizer.id_to_token(int(i)) for i in top.indices[index]],
                top_probabilities=top.values[index].tolist(),
                probability=float(probability),
                rank=1 + int((words[index] > probability).sum()),
                is_next=None if text.text_b is None or is_next is None else is_next[index],
            )
        )
    return Probe(step, sentences)


def _masked_position(encoding: Encoding, text: ProbeText) -> int:
    """Return the first piece of the hidden word; the text's first piece if it was cut off."""
    start = text.text_a.index(text.hidden)
    spans = zip(encoding.offsets, encoding.text_ids, strict=True)
    places = [i for i, (span, owner) in enumerate(spans) if owner == 0 and span[0] >= start]
    return places[0] if places else 1


def _batch(
    encodings: Sequence[Encoding], masked: Sequence[int], tokenizer: Tokenizer
) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids, segments and True at tokens, [2N, T]: all sentences whole, then all masked."""
    width = max(map(len, encodings))
    shape = (len(encodings), width)
    ids = torch.full(shape, tokenizer.pad_id)
    segments = torch.zeros(shape, dtype=torch.long)
    mask = torch.zeros(shape, dtype=torch.bool)
    for row, encoding in enumerate(encodings):
        ids[row, : len(encoding)] = torch.tensor(encoding.input_ids)
        segments[row, : len(encoding)] = torch.tensor(encoding.segment_ids)
        mask[row, : len(encoding)] = True
    hidden = ids.clone()
    hidden[torch.arange(len(encodings)), masked] = tokenizer.mask_id
    return torch.cat([ids, hidden]), torch.cat([segments] * 2), torch.cat([mask] * 2)


class ProbeWriter:
    """Writes the probes of one run, to `probes/` in its folder."""

    def __init__(self, run: Path, tokenizer: Tokenizer) -> None:
        self._run, self._tokenizer = run, tokenizer
        self._last: int | None = None

    def write(self, network: Network, step: int, *, is_last: bool = False) -> None:
        """Write the probe of this step; a recent one before is enough unless it is the last."""
        if is_last or is_due(step, self._last):
            probe = take_probe(network, self._tokenizer, step)
            write_probe(self._run / "probes", probe)
            self._last = step

    def forget_after(self, step: int) -> None:
        """Delete the probes of steps that a resumed run will repeat, and partial files."""
        for leftover in (self._run / "probes").glob(".*.partial"):
            leftover.unlink(missing_ok=True)
        kept = []
        for at, path in probe_files(self._run).items():
            if at > step:
                path.unlink(missing_ok=True)
            else:
                kept.append(at)
        self._last = max(kept, default=None)


def is_due(step: int, last_step: int | None) -> bool:
    """Return whether a probe at `step` is far enough from the last one.

    >>> is_due(0, None), is_due(500, 0), is_due(500_500, 500_000)
    (True, True, False)
    """
    return last_step is None or step - last_step >= MIN_STEP_GROWTH * step
