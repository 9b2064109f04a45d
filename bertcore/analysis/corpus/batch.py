"""The pure part: texts in, rows and vectors of some layers out; no files, no state.

`encode_texts` is called part by part by one process, or by a worker of a cluster.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.base.device import compute_format
from bertcore.configs.encode import EncodeSettings
from bertcore.model.architecture.config import BertConfig
from bertcore.model.bert import Bert
from bertcore.model.model import Model
from bertcore.model.network import Network
from bertcore.model.tokenizer import Pieces, Template

OVERLAP = 4
"""Windows over a long text share 1 / OVERLAP of their tokens."""
LARGEST_FLOAT16 = 65504.0
_FEWEST_TOGETHER = 256
"""Padded tokens of a batch that is filled up with shorter windows, however much that pads."""


class Window(NamedTuple):
    """A stretch of a text's pieces that runs as one input."""

    text: int
    first: int
    """First piece."""
    end: int
    """One past the last piece."""
    keep_from: int
    """The first piece whose vector comes from this window."""
    keep_to: int
    """One past the last such piece."""


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """R rows of some texts, and their vectors at some layers."""

    columns: dict[str, NDArray[Any] | list[str]]
    """Columns of the rows, R long each: text (number of the text), position, start, end, and with
    tokens and words word_id, piece and word."""
    vectors: dict[int, NDArray[np.float16]]
    """Layer -> [R, D]."""
    num_tokens: int
    """Number of tokens run, including special tokens and the overlap of windows."""
    num_in_windows: int
    """Number of texts longer than the checkpoint reads at once."""

    def __len__(self) -> int:
        return len(self.columns["text"])


def encode_texts(
    model: Model,
    texts: Sequence[str],
    layers: Sequence[int],
    settings: EncodeSettings,
    *,
    pieces: Sequence[Pieces] | None = None,
    on_batch: Callable[[float], None] = lambda fraction: None,
) -> Encoded:
    """Return the rows of some texts in order, with the vectors of some layers.

    The texts run in batches of about the same length and of `settings.tokens_per_batch` padded
    tokens, with fused attention, through no more layers than the deepest requested one. Batching
    changes only the last digits of a vector. A text with more tokens than the checkpoint reads runs
    in overlapping windows; each token has the vector of the window in which it is farther from the
    edge.

    Args:
        layers: From `resolve_layers`.
        on_batch: Called after each batch with the fraction of the windows that ran; may raise to
            stop.

    ValueError if a text is not valid Unicode or cannot be written in the vocabulary. RuntimeError
    if a vector is not finite, or too large for float16.
    """
    if pieces is None:
        pieces = model.tokenizer.encode_pieces(list(texts))
    template = model.tokenizer.template(is_pair=False)
    rows = _Rows(pieces, template)
    windows = [
        window
        for number, piece in enumerate(pieces)
        for window in windows_of(number, piece, model.max_length - template.num_special)
    ]
    # For tokens only the requested rows are kept, in float16; states to be pooled are kept in full.
    is_token, is_kept = settings.unit == "token", np.ones(len(rows), dtype=np.bool_)
    if settings.unit == "word" or (is_token and not settings.special_tokens):
        is_kept = ~rows.is_special
    places = np.cumsum(is_kept) - 1
    shape = int(is_kept.sum()), model.config.hidden_size
    dtype = torch.float16 if is_token else torch.float32
    states = {layer: torch.empty(shape, dtype=dtype) for layer in layers}
    num_tokens = num_done = 0
    for batch in _batches(windows, settings.tokens_per_batch, template.num_special):
        num_tokens += sum(window.end - window.first + template.num_special for window in batch)
        source, target = rows.places(batch)
        wanted = is_kept[target]
        source, target = source[wanted], places[target[wanted]]
        from_rows, to_rows = torch.from_numpy(source), torch.from_numpy(target)
        for layer, hidden in _run(model, batch, pieces, template, layers).items():
            selected = hidden.flatten(0, 1)[from_rows.to(hidden.device)]
            states[layer][to_rows] = selected.to(dtype).cpu()
        num_done += len(batch)
        on_batch(num_done / len(windows))
    columns, vectors = _by_unit(rows, is_kept, states, texts, pieces, model, settings)
    for layer, own in vectors.items():
        _check_finite(own, layer, texts, columns["text"])
    return Encoded(
        columns=columns,
        vectors=vectors,
        num_tokens=num_tokens,
        num_in_windows=sum(
            window.first > 0 and window.end == len(pieces[window.text].ids) for window in windows
        ),
    )


def windows_of(text: int, pieces: Pieces, room: int) -> list[Window]:
    """Return the windows of `room` pieces over a text, one if it fits.

    Two neighbours share a quarter of their tokens, and separate in the middle of it, before a word.
    """
    num = len(pieces.ids)
    step = max(1, room - room // OVERLAP)
    starts = [0]
    while starts[-1] + room < num:
        starts.append(starts[-1] + step)
    borders = [0]
    for first in starts[1:]:
        border = first + (room - step) // 2
        while border > first and pieces.word_ids[border] == pieces.word_ids[border - 1]:
            border -= 1
        borders.append(border)
    ends = [*borders[1:], num]
    return [
        Window(text, first, min(num, first + room), keep_from, keep_to)
        for first, keep_from, keep_to in zip(starts, borders, ends, strict=True)
    ]


class _Rows:
    """The tokens of all texts in sequence, each once, including special tokens."""

    def __init__(self, pieces: Sequence[Pieces], template: Template) -> None:
        self.num_before, self.num_after = len(template.before), len(template.after)
        self.num_pieces = np.array([len(piece.ids) for piece in pieces], dtype=np.int64)
        lengths = self.num_pieces + template.num_special
        # Texts without a piece (of characters that the vocabulary drops) keep their special tokens.
        self.starts = np.concatenate([[0], np.cumsum(lengths)])
        self.texts = np.repeat(np.arange(len(pieces)), lengths)
        self.positions = np.arange(self.starts[-1]) - self.starts[self.texts]
        self.is_special = (self.positions < self.num_before) | (
            self.positions >= self.num_before + self.num_pieces[self.texts]
        )

    def __len__(self) -> int:
        return int(self.starts[-1])

    def places(self, batch: Sequence[Window]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which tokens of a padded batch [B x T] are kept, and the rows that they become."""
        longest = max(window.end - window.first for window in batch)
        longest += self.num_before + self.num_after
        sources, targets = [], []
        for number, window in enumerate(batch):
            is_first, is_last = window.first == 0, window.end == self.num_pieces[window.text]
            low = 0 if is_first else self.num_before + window.keep_from
            high = self.num_before + window.keep_to + (self.num_after if is_last else 0)
            targets.append(self.starts[window.text] + np.arange(low, high))
            sources.append(number * longest - window.first + np.arange(low, high))
        return np.concatenate(sources), np.concatenate(targets)


def _batches(
    windows: Sequence[Window], tokens_per_batch: int, num_special: int
) -> Iterator[list[Window]]:
    """Yield windows of about the same length together, the longest first.

    A lack of memory thus shows at once. A batch ends before a window that would be padded by more
    than a fifth, unless the batch is so small that adding it costs less than another run.
    """
    order = sorted(windows, key=lambda window: window.first - window.end)
    lengths = [window.end - window.first + num_special for window in order]
    start = 0
    while start < len(order):
        longest = max(1, lengths[start])
        last = min(len(order), start + max(1, tokens_per_batch // longest))
        end = start + 1
        while end < last and (
            5 * lengths[end] >= 4 * longest or (end - start) * longest < _FEWEST_TOGETHER
        ):
            end += 1
        yield order[start:end]
        start = end


@torch.inference_mode()
def _run(
    model: Model,
    batch: Sequence[Window],
    pieces: Sequence[Pieces],
    template: Template,
    layers: Sequence[int],
) -> dict[int, Tensor]:
    """Return the states of a batch of windows, layer -> [B, T, D], on the device."""
    filled = [template.fill(pieces[w.text].ids[w.first : w.end]) for w in batch]
    ids, segments = zip(*filled, strict=True)
    return layer_states(model, *model.padded(ids, segments), layers)


def layer_states(
    model: Model,
    input_ids: Tensor,
    segment_ids: Tensor,
    attention_mask: Tensor,
    layers: Sequence[int],
) -> dict[int, Tensor]:
    """Return some hidden states of a padded batch [B, T], layer -> [B, T, D].

    State 0 is the embeddings' output. Runs no layer after the deepest. Architectures run by
    `transformers` return all of them. True in `attention_mask` is a token, False padding.
    """
    network = model.module
    if not isinstance(network, Network):
        states = network.every_state(input_ids, segment_ids, attention_mask)
        return {layer: states[layer] for layer in layers}
    # Without padding there is nothing to hide, and attention is faster without a mask.
    mask = None if bool(attention_mask.all()) else attention_mask
    hidden, additive = network.embed(input_ids, segment_ids, mask)
    of_layer = {0: hidden} if 0 in layers else {}

    def keep(index: int, hidden: Tensor) -> Tensor:
        if index + 1 in layers:
            of_layer[index + 1] = hidden
        return hidden

    network.run_layers(hidden, additive, layers=range(max(layers)), after=keep)
    return of_layer


def _by_unit(
    rows: _Rows,
    is_kept: NDArray[np.bool_],
    states: dict[int, Tensor],
    texts: Sequence[str],
    pieces: Sequence[Pieces],
    model: Model,
    settings: EncodeSettings,
) -> tuple[dict[str, NDArray[Any] | list[str]], dict[int, NDArray[np.float16]]]:
    """Return the columns and vectors of tokens, or of the units they are pooled into."""
    if settings.unit == "sentence":
        owners, num = rows.texts, len(texts)
        columns = _sentence_columns(texts)
    else:
        tokens = _token_columns(rows, is_kept, texts, pieces, model)
        if settings.unit == "token":
            return tokens, {layer: vectors.numpy() for layer, vectors in states.items()}
        owners, columns = _words(tokens)
        num = len(columns["text"])
    with np.errstate(over="ignore"):  # overflow is detected by _check_finite
        vectors = {
            layer: pool_rows(of_layer.numpy(), owners, num, settings.pooling).astype(np.float16)
            for layer, of_layer in states.items()
        }
    return columns, vectors


def _sentence_columns(texts: Sequence[str]) -> dict[str, NDArray[Any] | list[str]]:
    num = len(texts)
    return {
        "text": np.arange(num),
        "position": np.zeros(num, dtype=np.int64),
        "start": np.zeros(num, dtype=np.int64),
        "end": np.array([len(text) for text in texts], dtype=np.int64),
    }


def _token_columns(
    rows: _Rows,
    is_kept: NDArray[np.bool_],
    texts: Sequence[str],
    pieces: Sequence[Pieces],
    model: Model,
) -> dict[str, NDArray[Any] | list[str]]:
    vocab, template = model.tokenizer.vocab, model.tokenizer.template(is_pair=False)
    before, after = ([vocab[id] for id, _ in part] for part in (template.before, template.after))
    with_special = bool(is_kept[rows.is_special].any())
    if not with_special:
        before, after = [], []
    names: list[str] = []
    words: list[str] = []
    word_ids: list[int] = []
    spans: list[tuple[int, int]] = []
    for text, piece in zip(texts, pieces, strict=True):
        names += [*before, *(vocab[id] for id in piece.ids), *after]
        words += [*before, *_whole_words(text, piece), *after]
        word_ids += [*(-1 for _ in before), *piece.word_ids, *(-1 for _ in after)]
        spans += [*((0, 0) for _ in before), *piece.offsets, *((0, 0) for _ in after)]
    places = np.array(spans, dtype=np.int64).reshape(-1, 2)
    return {
        "text": rows.texts[is_kept],
        "position": rows.positions[is_kept],
        "word_id": np.array(word_ids, dtype=np.int64),
        "piece": names,
        "word": words,
        "start": places[:, 0],
        "end": places[:, 1],
    }


def _whole_words(text: str, pieces: Pieces) -> list[str]:
    """Return for each piece the whole word, as written, to which it belongs."""
    words: list[str] = []
    start = 0
    num = len(pieces.ids)
    while start < num:
        end = start + 1
        while end < num and pieces.word_ids[end] == pieces.word_ids[start]:
            end += 1
        word = text[pieces.offsets[start][0] : pieces.offsets[end - 1][1]]
        words += [word] * (end - start)
        start = end
    return words


def _words(tokens: dict[str, Any]) -> tuple[NDArray[np.int64], dict[str, NDArray[Any] | list[str]]]:
    """Return the word to which each token belongs, and the columns of the words."""
    keys = np.stack([tokens["text"], tokens["word_id"]], axis=1)
    is_first = (np.diff(keys, axis=0, prepend=np.full((1, 2), -1)) != 0).any(1)
    owners = np.cumsum(is_first) - 1
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(keys))
    pairs = list(zip(starts.tolist(), ends.tolist(), strict=False))[: len(starts)]
    columns = {
        "text": tokens["text"][starts],
        "position": tokens["word_id"][starts],
        "word_id": tokens["word_id"][starts],
        "piece": [" ".join(tokens["piece"][start:end]) for start, end in pairs],
        "word": [tokens["word"][start] for start in starts],
        "start": tokens["start"][starts],
        "end": tokens["end"][[end - 1 for _, end in pairs]],
    }
    return owners, columns


def pool_rows(
    states: NDArray[np.float32], owners: NDArray[np.int64], num: int, pooling: str
) -> NDArray[np.float32]:
    """Pool rows that belong together, [R, D], to one each, [num, D].

    The poolings of `bertcore.model.sentences`, and "first" and "last" as names of "cls" and
    "lasttoken". `owners` has the group of each row, [R], ascending; each group has a row.
    """
    counts = np.bincount(owners, minlength=num)
    starts = np.cumsum(counts) - counts
    pooled: NDArray[np.float32]
    if not num or pooling in ("cls", "first"):
        pooled = states[starts]
    elif pooling in ("lasttoken", "last"):
        pooled = states[starts + counts - 1]
    elif pooling == "max":
        pooled = np.maximum.reduceat(states, starts)
    else:
        weights = np.ones(len(states), np.float32)
        if pooling == "weightedmean":
            weights = (np.arange(len(states)) - starts[owners] + 1).astype(np.float32)
        totals = np.add.reduceat(weights, starts)
        pooled = np.add.reduceat(states * weights[:, None], starts)
        is_root = pooling == "mean_sqrt_len_tokens"
        pooled /= (np.sqrt(totals) if is_root else totals)[:, None]
    return pooled


def _check_finite(
    vectors: NDArray[np.float16], layer: int, texts: Sequence[str], owners: Any
) -> None:
    # The sum of the highest and lowest is one pass without a copy.
    if not len(vectors) or (np.isfinite(vectors.max()) and np.isfinite(vectors.min())):
        return
    row = int(np.flatnonzero(~np.isfinite(vectors).all(1))[0])
    text = texts[int(owners[row])]
    shown = text if len(text) <= 60 else f"{text[:60]}..."
    what = "NaN" if np.isnan(vectors[row]).any() else f"a number over {LARGEST_FLOAT16:,.0f}"
    raise RuntimeError(
        f"the vectors of layer {layer} cannot be stored in float16: {what} in a vector of "
        f"{shown!r}. Check the checkpoint with `bertscope inspect`, or choose other layers."
    )


def resolve_layers(layers: Sequence[int], config: BertConfig) -> tuple[int, ...]:
    """Return the layers from 0, each once, in order.

    ValueError if there is none, or one does not exist.
    """
    num_layers = config.num_hidden_layers
    wrong = [layer for layer in layers if not -num_layers - 1 <= layer <= num_layers]
    if wrong or not layers:
        what = f"layer {wrong[0]} does not exist" if wrong else "no layer was chosen"
        raise ValueError(
            f"{what}; this checkpoint has hidden states 0 to {num_layers} "
            "(0 the input, -1 the last)."
        )
    return tuple(sorted({layer % (num_layers + 1) for layer in layers}))


def in_format(model: Model, dtype: str) -> tuple[Model, str]:
    """Return a model in the number format in which it encodes, and a sentence on the format.

    ValueError if bfloat16 is requested and the model runs in `transformers`.
    """
    if model.dtype != torch.float32:
        return model, f"Computing in {str(model.dtype).removeprefix('torch.')}, as it was opened."
    if not isinstance(model, Bert):
        if dtype == "bfloat16":
            raise ValueError(
                "dtype is 'bfloat16', but this architecture runs in transformers and was opened "
                "in float32. Choose 'auto', or open it in bfloat16."
            )
        return model, "Computing in float32."
    compute = compute_format(dtype, model.device)
    if compute.dtype == "float32":
        return model, compute.sentence
    half = copy.deepcopy(model.module).to(torch.bfloat16)
    fitted = Bert(half, model.tokenizer, name=model.name, report=model.report)
    return fitted, compute.sentence
