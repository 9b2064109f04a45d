"""Probe a model during training on a few fixed sentences, for the replay of its run."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from bertcore.base.quantize import quantize
from bertcore.network import Network, attention_explicit
from bertcore.tokenizer import Encoding, Tokenizer
from bertcore.training.probes import (
    PROBE_TEXTS,
    Probe,
    ProbeText,
    SentenceProbe,
    probe_files,
    write_probe,
)

TOP_K = 5
"""Number of predictions kept for each hidden word."""
MIN_STEP_GROWTH = 0.005
"""Minimum distance between two probes as a fraction of the steps so far: 200 probes until
evaluations are closer than that, and few more after."""


@torch.no_grad()
def take_probe(
    network: Network,
    tokenizer: Tokenizer,
    step: int,
    texts: Sequence[ProbeText] = PROBE_TEXTS,
) -> Probe:
    """Probe the network on all sentences, each whole and with its hidden word, in one batch.

    Runs in float32 and evaluation mode, whatever the mode of training, which is restored; draws no
    random numbers.

    Args:
        network: A network with a masked-word head; without a next-sentence head, pairs get no
            answer. A causal one predicts the hidden word from the words before it.
        step: The step, for the record.
        texts: The sentences; those longer than the position table are truncated.

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
            is_next = _is_next(network, hidden[: len(texts)])
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


def _is_next(network: Network, hidden: Tensor) -> list[float] | None:
    """Return the probability that text B follows, [N]; None without a head for it."""
    if network.nsp is None:
        return None
    is_next: list[float] = torch.softmax(network.nsp_logits(hidden).float(), -1)[:, 0].tolist()
    return is_next


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
    """Writes the probes of one run.

    Args:
        run: The run's folder; the files go to `probes/` in it.
    """

    def __init__(
        self,
        run: Path,
        tokenizer: Tokenizer,
        texts: Sequence[ProbeText] = PROBE_TEXTS,
    ) -> None:
        self._run, self._tokenizer, self._texts = run, tokenizer, texts
        self._last: int | None = None

    def write(self, network: Network, step: int, *, is_last: bool = False) -> None:
        """Write the probe of this step, unless the previous one is too recent.

        Args:
            network: As for `take_probe`.
            step: Steps trained so far.
            is_last: Whether the run ends here, in which case the probe is always written.
        """
        if is_last or is_due(step, self._last):
            probe = take_probe(network, self._tokenizer, step, self._texts)
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
