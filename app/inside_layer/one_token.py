"""One token through one layer, and its heads, as the rows of the drawing."""

from typing import Any

import torch
from torch import Tensor

from bertcore import Model
from bertcore.analysis.mixing.layer_parts import LayerParts, layer_parts
from bertcore.analysis.words.head_steps import masked_word_steps, pooler_steps
from bertcore.analysis.words.logit_attribution import LogitAttribution, PartKind, pushed_words
from bertcore.architecture.config import ModernBertConfig
from bertcore.bert import with_parts

from .drawing import Prediction, Sheet
from .run import AskedWord, Run, attribution

NUM_LOGITS = 6
"""Words whose logits are shown."""
ANSWERS = {"nsp": ("B follows A", "B is random"), "sop": ("in order", "exchanged")}


def word_sheet(bert: Model, run: Run, asked: AskedWord) -> Sheet:
    """Return the rows of the masked-word head at a token."""
    steps = masked_word_steps(bert, run.trace, asked.position)
    head = with_parts(bert).module.masked_word_head()
    sheet = Sheet()
    sheet.add_vector(steps.state, "state", "Last state", "of the token")
    widths = f"{len(steps.state):,} → {len(steps.dense):,} numbers"
    sheet.add_vector(steps.dense, "dense", "Dense", f"a linear layer, {widths}")
    name = activation_name(head.activation)
    below = "zero" if name == "ReLU" else "small"
    sheet.add_vector(steps.activation, "dense", name, f"negatives become {below}, positives stay")
    sheet.add_vector(steps.norm, "norm", "LayerNorm", "compared with every word")
    best = steps.logits[: bert.tokenizer.vocab_size].topk(NUM_LOGITS)
    asked_id = None if asked.word is None else bert.tokenizer.token_to_id(asked.word)
    ids = best.indices.tolist()
    if asked_id is not None and asked_id not in ids:
        ids.append(asked_id)
    sheet.add(
        "logits",
        "Decoder",
        f"the token table, {len(steps.logits):,} words, and a bias for each",
        entries=[
            {
                "word": bert.tokenizer.id_to_token(word_id),
                "product": float(steps.products[word_id]),
                "bias": float(steps.biases[word_id]),
                "logit": float(steps.logits[word_id]),
                "probability": float(steps.probabilities[word_id]),
            }
            for word_id in ids
        ],
    )
    return sheet


def pair_sheet(bert: Model, run: Run) -> Sheet:
    """Return the rows of the pooler, and for a pair those of the head that reads it."""
    steps = pooler_steps(bert, run.trace)
    sheet = Sheet()
    sheet.add_vector(steps.state, "state", "Last state", f"of {run.trace.tokens[0]}")
    sheet.add_vector(steps.dense, "dense", "Dense", "a linear layer")
    sheet.add_vector(steps.pooled, "pooled", "tanh", "between −1 and 1: the pooled vector")
    if steps.logits is not None and run.text_b is not None:
        probabilities = torch.softmax(steps.logits, -1).tolist()
        rows = zip(ANSWERS[steps.kind], steps.logits.tolist(), probabilities, strict=True)
        sheet.add(
            "pair",
            "Next sentence" if steps.kind == "nsp" else "Sentence order",
            "two logits, then softmax",
            entries=[{"word": name, "logit": logit, "probability": p} for name, logit, p in rows],
        )
    return sheet


NUM_WORDS = 4
"""Predicted words that are shown for a vector."""
NUM_SOURCES = 6
"""Tokens that are shown for each head: those that it reads most."""
NUM_NEURONS = 6
RESIDUAL = "residual: the vector before the block is kept"


def activation_name(name: str) -> str:
    """Return how an activation of config.json is shown."""
    is_gelu = name.startswith("gelu") and name != "gelu_10"
    return "GELU" if is_gelu else {"relu": "ReLU"}.get(name, name)


def token_sheet(bert: Model, run: Run, layer: int, asked: AskedWord) -> Sheet:
    """Return the rows of one token in one layer."""
    trace = run.trace
    parts = layer_parts(bert, trace, layer)
    shares = attribution(run, asked) if "mlm" in bert.capabilities else None
    return _Rows(bert, run, parts, layer, asked.position, shares).sheet


class _Rows:
    """Builds the rows in the order of computation."""

    def __init__(
        self,
        bert: Model,
        run: Run,
        parts: LayerParts,
        layer: int,
        position: int,
        shares: LogitAttribution | None,
    ) -> None:
        self.bert, self.run, self.parts, self.shares = bert, run, parts, shares
        self.layer, self.position, self.sheet = layer, position, Sheet()
        self.is_modern = isinstance(bert.config, ModernBertConfig)
        self.is_last = layer + 1 == bert.config.num_hidden_layers
        self._input()
        self._attention()
        self._first_sum()
        self._feed_forward()
        self._second_sum()

    def _at(self, vectors: Tensor) -> Tensor:
        return vectors[self.position]

    def _said(self, state: Tensor, *, is_normalized: bool = False) -> Prediction | None:
        """Return what the masked-word head would predict from a state [D]; None without a head."""
        if "mlm" not in self.bert.capabilities:
            return None
        return said_of(self.bert, state, is_normalized=is_normalized)

    def _share(self, kind: PartKind) -> float | None:
        return None if self.shares is None else self.shares.total(kind, layer=self.layer)

    def _bias_share(self, kind: PartKind) -> float | None:
        """Return the share of biases; None if there are none (ModernBERT)."""
        share = self._share(kind)
        return None if share == 0 else share

    def _input(self) -> None:
        state = self._at(self.parts.hidden)
        of = f"output of layer {self.layer - 1}" if self.layer else "output of the embeddings"
        self.sheet.add_vector(
            state, "state", "Vector so far", of, said=self._said(state), residual="from"
        )
        if self.is_modern and self.layer:
            self.sheet.add_vector(
                self._at(self.parts.attention_input),
                "normed",
                "LayerNorm",
                "before the block: what attention reads",
                before=state,
            )

    def _attention(self) -> None:
        parts, trace = self.parts, self.run.trace
        before = self._at(parts.hidden)
        shares = None if self.shares is None else self.shares.heads(self.layer)
        num_heads = len(parts.weights)
        for head in range(num_heads):
            written = parts.head_outputs[head, self.position]
            weights = parts.weights[head, self.position]
            best = weights.topk(min(NUM_SOURCES, len(weights))).indices.tolist()
            best = [place for place in best if weights[place] != 0]  # the others may be masked
            self.sheet.add_vector(
                written,
                "write",
                "" if head else "Attention",
                "" if head else "each head reads tokens and writes a vector",
                before=before,
                label=f"head {head}",
                share=None if shares is None else shares[head],
                head=head,
                query=self.sheet.keep(parts.queries[head, self.position]),
                mix=self.sheet.keep(parts.context[head, self.position]),
                sources=[
                    {
                        "token": trace.tokens[place],
                        "position": place,
                        "weight": float(weights[place]),
                        "score": float(parts.scores[head, self.position, place]),
                        "key": self.sheet.keep(parts.keys[head, place]),
                        "value": self.sheet.keep(parts.values[head, place]),
                        "share": self._source_share(head, place),
                    }
                    for place in best
                ],
            )
        self.sheet.add_vector(
            self._at(parts.attention_output),
            "write",
            before=before,
            label="sum of heads",
            share=self._share("head"),
        )

    def _source_share(self, head: int, place: int) -> float | None:
        if self.shares is None:
            return None
        return float(self.shares.sources[self.layer, head, place])

    def _first_sum(self) -> None:
        parts = self.parts
        before, summed = self._at(parts.hidden), self._at(parts.attention_sum)
        self._add_and_norm(
            before, summed, self._at(parts.attention_state), "attention_bias", goes_on=True
        )
        if self.is_modern:
            self.sheet.add_vector(
                self._at(parts.feed_forward_input),
                "normed",
                "LayerNorm",
                "before the block: what the neurons read",
                before=summed,
            )

    def _add_and_norm(
        self, before: Tensor, summed: Tensor, state: Tensor, bias: PartKind, *, goes_on: bool
    ) -> None:
        """Add the sum with the residual and its LayerNorm; ModernBERT has no such LayerNorm.

        Args:
            before: The vector before the block, [D], as the others.
            summed: With what the block wrote.
            state: What the next block continues with.
            bias: Whose share is told.
            goes_on: Whether the next residual connection begins here.
        """
        share: dict[str, Any] = {"share": self._bias_share(bias), "share_of": "biases"}
        if self.is_modern:
            self.sheet.add_vector(
                summed,
                "state",
                "Add",
                RESIDUAL,
                before=before,
                said=self._said(state),
                residual="to from" if goes_on else "to",
                **share,
            )
            return
        self.sheet.add_vector(
            summed, "sum", "Add & norm", RESIDUAL, before=before, label="sum", residual="to"
        )
        residual: dict[str, Any] = {"residual": "from"} if goes_on else {}
        self.sheet.add_vector(
            state,
            "state",
            before=before,
            label="LayerNorm",
            said=self._said(state),
            **residual,
            **share,
        )

    def _feed_forward(self) -> None:
        parts, config = self.parts, self.bert.config
        before, active = self._at(parts.attention_state), self._at(parts.activations)
        num_neurons = len(active)
        firing = int((self._at(parts.pre_activations) > 0).sum())
        name = activation_name(config.hidden_act) + (" times a gate" if self.is_modern else "")
        self.sheet.add(
            "neurons",
            "Feed-forward",
            f"{config.hidden_size:,} → {num_neurons:,} neurons, {name}",
            label=f"{firing:,} of {num_neurons:,} fire",
            vector=self.sheet.keep(active),
            scale="neurons",
            cards=self._cards(active),
            ranked_by_share=self.shares is not None,
        )
        self.sheet.add_vector(
            self._at(parts.feed_forward_output),
            "write",
            before=before,
            label="writes",
            share=self._share("feed_forward"),
        )

    def _cards(self, active: Tensor) -> list[dict[str, object]]:
        """Return the neurons that count most: by share of the logit, else by what they write."""
        if self.shares is None:
            columns = with_parts(self.bert).module.layers[self.layer].feed_forward.output.weight
            ranks = active.abs() * columns.detach().float().cpu().norm(dim=0)
        else:
            ranks = self.shares.neurons[self.layer].abs()
        best = ranks.topk(min(NUM_NEURONS, len(ranks))).indices.tolist()
        cards: list[dict[str, object]] = [
            {
                "neuron": neuron,
                "activation": float(active[neuron]),
                "share": None
                if self.shares is None
                else float(self.shares.neurons[self.layer, neuron]),
                "words": [],
            }
            for neuron in best
        ]
        if self.shares is not None:
            pushed = pushed_words(self.bert, self.run.trace, self.position, self.layer, best)
            for card, one in zip(cards, pushed, strict=True):
                card["words"] = list(one.words)
        return cards

    def _second_sum(self) -> None:
        parts = self.parts
        before, summed = self._at(parts.attention_state), self._at(parts.feed_forward_sum)
        output = self._at(parts.output)
        if not (self.is_modern and self.is_last):
            self._add_and_norm(before, summed, output, "feed_forward_bias", goes_on=False)
            return
        self.sheet.add_vector(summed, "state", "Add", RESIDUAL, before=before, residual="to")
        self.sheet.add_vector(
            output,
            "normed",
            "Final LayerNorm",
            "what the heads read",
            before=before,
            said=self._said(output, is_normalized=True),
            share_of="biases",
        )


@torch.inference_mode()
def said_of(bert: Model, state: Tensor, *, is_normalized: bool = False) -> Prediction:
    """Return what the masked-word head would predict from a state [D].

    Args:
        is_normalized: Whether the state has passed the final LayerNorm (ModernBERT).
    """
    read = state.to(bert.device, bert.dtype)
    if not is_normalized:
        read = bert.module.read_early(torch.stack([read, read]))[0]
    logits = bert.module.mlm_logits(read).float()
    best = torch.softmax(logits, -1)[: bert.tokenizer.vocab_size].topk(NUM_WORDS)
    words = [bert.tokenizer.id_to_token(word_id) for word_id in best.indices.tolist()]
    return Prediction(words, best.values.tolist())
