"""Tokens per second of `bertscope encode` against two other ways to encode a corpus.

A BERT with 6 layers and hidden size 384, with random weights and the shipped vocabulary; the
sentences of the shipped novel, in order. All use the same weights, sentences, threads and process,
take turns, and are compared first. transformers' feature-extraction pipeline returns the last
hidden state of every token, sentence-transformers the mean over a sentence; ours returns the rows
of `encode_texts`, and is also measured as a whole run, from the file to Parquet. Tokens are counted
without padding, with [CLS] and [SEP].
"""

import lzma
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks import tables
from bertcore import Bert, BertConfig, load
from bertcore.analysis.corpus import EncodeSettings, encode_corpus, encode_texts
from bertcore.analysis.corpus.batch import in_format
from bertcore.base.device import computes_bfloat16
from bertcore.base.states import state_name
from bertcore.data.sentences import split_sentences
from bertcore.model.network import Network
from bertcore.model.network.initialize import initialize
from bertcore.training.pretraining.data.corpus import NOVEL

TIMES_THE_PIPELINE, TIMES_SENTENCE_TRANSFORMERS = 7.0, 1.5
BATCH_SIZE = 32
TOLERANCE = 1e-4
LAYERS, WIDTH, FEED_FORWARD = 6, 384, 1536
_PEAK_SIZE, _PEAK_ROUNDS = 2048, 8

LEAST_COSINE = 0.999
Runner = Callable[[Sequence[str]], Any]


@dataclass
class Options:
    """Set by the command line."""

    sentences: int = 2048
    """Per round; a quarter of them with batch size 1."""
    rounds: int = 5


OPTIONS = Options()


def run() -> str:
    """Return the tables of tokens per second and of precision."""
    texts = _texts()[: OPTIONS.sentences]
    bert = _model()
    dtypes = ["float32", *(["bfloat16"] if computes_bfloat16(bert.device) else [])]
    models = {dtype: in_format(bert, dtype)[0] for dtype in dtypes}
    with tempfile.TemporaryDirectory() as folder:
        saved = bert.save(Path(folder) / "bert")
        runners = _runners(models, saved, Path(folder))
        _check_equal(bert, runners, texts[:20])
        speeds: dict[str, list[float]] = {name: [] for name in runners}
        for number in range(OPTIONS.rounds):
            for name in list(runners)[:: 1 if number % 2 else -1]:
                # Each round starts at another sentence, so that lengths do not repeat.
                count = len(texts) // 4 if "batch 1" in name else len(texts)
                chosen = np.roll(np.array(texts, dtype=object), -97 * number)[:count].tolist()
                num_tokens = sum(len(p.ids) + 2 for p in bert.tokenizer.encode_pieces(chosen))
                start = time.perf_counter()
                runners[name](chosen)
                speeds[name].append(num_tokens / (time.perf_counter() - start))
    lengths = [len(pieces.ids) + 2 for pieces in bert.tokenizer.encode_pieces(texts)]
    return "\n\n".join(
        [
            f"{len(texts):,} sentences of {statistics.median(lengths):.0f} tokens (median; "
            f"{min(lengths)} to {max(lengths)}), {torch.get_num_threads()} threads.",
            _speed_table(speeds, float(np.mean(lengths)), dtypes),
            _precision_table(bert, models, texts[:500]),
        ]
    )


def _texts() -> list[str]:
    with lzma.open(NOVEL.train, "rt", encoding="utf-8") as file:
        return [sentence for line in file for sentence in split_sentences(line)]


def _model() -> Bert:
    tokenizer = load("default").tokenizer
    config = BertConfig(
        vocab_size=tokenizer.vocab_size,
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=12,
        intermediate_size=FEED_FORWARD,
    )
    return Bert(initialize(Network(config), torch.Generator().manual_seed(0)), tokenizer)


def _runners(models: dict[str, Any], saved: Path, folder: Path) -> dict[str, Runner]:
    """Return the measured functions by name; each takes sentences."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from transformers import AutoTokenizer, BertModel, pipeline

    extract = pipeline(
        "feature-extraction",
        model=BertModel.from_pretrained(saved).eval(),
        tokenizer=AutoTokenizer.from_pretrained(saved),
        device="cpu",
    )
    peer = SentenceTransformer(
        modules=[Transformer(str(saved)), Pooling(WIDTH, pooling_mode="mean")], device="cpu"
    )

    def pipe(batch_size: int) -> Runner:
        def extracted(texts: Sequence[str]) -> Any:
            return extract(list(texts), batch_size=batch_size, return_tensors=True)

        return extracted

    runners: dict[str, Runner] = {
        "transformers, pipeline, batch 1": pipe(1),
        f"transformers, pipeline, batch {BATCH_SIZE}": pipe(BATCH_SIZE),
        "sentence-transformers": lambda texts: peer.encode(list(texts), batch_size=BATCH_SIZE),
    }
    for dtype, model in models.items():

        def ours(texts: Sequence[str], model: Any = model) -> Any:
            return encode_texts(model, texts, (LAYERS,), EncodeSettings(special_tokens=True))

        runners[f"ours, {dtype}"] = ours
    number = 0

    def to_disk(texts: Sequence[str]) -> Any:
        nonlocal number
        number += 1
        path = folder / f"{number}.txt"
        path.write_text("\n".join(" ".join(text.split()) for text in texts), encoding="utf-8")
        settings = EncodeSettings(dtype=list(models)[-1], special_tokens=True, split=False)
        return encode_corpus(models["float32"], path, folder / f"{number}", settings)

    runners[f"ours, {list(models)[-1]}, from file to Parquet"] = to_disk
    return runners


@torch.no_grad()
def _check_equal(bert: Bert, runners: dict[str, Runner], texts: Sequence[str]) -> None:
    """Check that all compute the same vectors; a speed is meaningless if they differ."""
    exact = [bert.hidden(bert.tokenize(text)).numpy() for text in texts]
    for name, runner in runners.items():
        found = runner(texts)
        if "pipeline" in name:
            # In batches it also returns the padding.
            pairs = [(np.asarray(f[0])[: len(e)], e) for f, e in zip(found, exact, strict=True)]
        elif name == "sentence-transformers":
            pairs = [(f, e.mean(0)) for f, e in zip(found, exact, strict=True)]
        elif name == "ours, float32":
            pairs = [(found.vectors[LAYERS].astype(np.float32), np.concatenate(exact))]
        else:
            continue  # bfloat16 is compared in the precision table
        limit = TOLERANCE if "ours" not in name else 4e-3  # stored in float16
        worst = max(float(np.abs(a - b).max()) for a, b in pairs)
        if not worst <= limit:
            raise RuntimeError(f"{name} differs by {worst:.2g} from a trace; expected {limit}.")


def _speed_table(speeds: dict[str, list[float]], length: float, dtypes: Sequence[str]) -> str:
    pipeline = statistics.median(speeds["transformers, pipeline, batch 1"])
    batched = statistics.median(speeds[f"transformers, pipeline, batch {BATCH_SIZE}"])
    peer = statistics.median(speeds["sentence-transformers"])
    peaks = {dtype: _matrix_peak(getattr(torch, dtype)) for dtype in dtypes}
    flop = LAYERS * (2 * (4 * WIDTH**2 + 2 * WIDTH * FEED_FORWARD) + 4 * length * WIDTH)
    rows = []
    for name, rates in speeds.items():
        middle = statistics.median(rates)
        dtype = "bfloat16" if "bfloat16" in name else "float32"
        aims = ""
        if name.startswith("ours"):
            reached = (
                middle >= TIMES_THE_PIPELINE * pipeline
                and middle >= TIMES_SENTENCE_TRANSFORMERS * peer
            )
            aims = "reached" if reached else "missed"
        rows.append(
            (
                name,
                f"{middle:,.0f} ({min(rates):,.0f} to {max(rates):,.0f})",
                f"{middle / pipeline:.2f}",
                f"{middle / batched:.2f}",
                f"{middle / peer:.2f}",
                f"{100 * middle * flop / peaks[dtype]:.0f}%",
                aims,
            )
        )
    columns = (
        "",
        "tokens per second, median (range)",
        "times the pipeline, batch 1",
        f"batch {BATCH_SIZE}",
        "times sentence-transformers",
        "of the matrix peak",
        f"aims {TIMES_THE_PIPELINE:g} and {TIMES_SENTENCE_TRANSFORMERS:g}",
    )
    measured = ", ".join(f"{peak / 1e9:,.0f} GFLOP/s in {dtype}" for dtype, peak in peaks.items())
    return f"{tables.markdown(columns, rows)}\n\nMatrix peak, measured: {measured}."


def _precision_table(bert: Bert, models: dict[str, Any], texts: Sequence[str]) -> str:
    if "bfloat16" not in models:
        return "This processor has no bfloat16 products, so they were not compared."
    layers = range(LAYERS + 1)
    both = [encode_texts(m, texts, layers, EncodeSettings()) for m in (bert, models["bfloat16"])]
    cosines = []
    for layer in layers:
        a, b = (encoded.vectors[layer].astype(np.float32) for encoded in both)
        lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        cosines.append((a * b).sum(1) / lengths)
    rows = [(state_name(i), f"{c.mean():.5f}", f"{c.min():.4f}") for i, c in enumerate(cosines)]
    verdict = "reached" if min(c.mean() for c in cosines) >= LEAST_COSINE else "missed"
    columns = ("bfloat16 against float32", "cosine, mean", "lowest")
    return f"{tables.markdown(columns, rows)}\n\nAim {LEAST_COSINE}: {verdict}."


@torch.no_grad()
def _matrix_peak(dtype: torch.dtype) -> float:
    """Return the highest FLOP/s of a product of large matrices."""
    a: torch.Tensor = torch.ones(_PEAK_SIZE, _PEAK_SIZE, dtype=dtype)
    times: NDArray[np.float64] = np.zeros(_PEAK_ROUNDS)
    for number in range(_PEAK_ROUNDS):
        start = time.perf_counter()
        a @ a
        times[number] = time.perf_counter() - start
    return 2 * _PEAK_SIZE**3 / float(times.min())
