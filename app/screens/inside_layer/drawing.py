"""The drawing, a component: its rows, vectors with what is read from them, and its messages."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertcore.analysis.mixing.layer_stages import LayerStages
from bertcore.analysis.words.head_steps import PoolerSteps, WordSteps
from bertcore.analysis.words.logit_attribution import LogitAttribution, PartKind
from bertcore.analysis.words.token_in_layer import TokenInLayer
from bertcore.base.states import state_name

from ...parts.canvas.shared import transport
from ...parts.component import Component
from ...plots import theme
from ...plots.vector_strips import mean_bands, rows_to_draw

COMPONENT = Component("bertscope_inside_layer", __file__)
NUM_SOURCES = 6
"""Tokens that are shown for each head: those that it reads most."""
RESIDUAL = "residual: the vector before the block is kept"
ANSWERS = {"nsp": ("B follows A", "B is random"), "sop": ("in order", "exchanged")}
COLOURS = {
    "a": theme.SEGMENT_A,
    "b": theme.SEGMENT_B,
    "special": theme.SPECIAL,
    "accent": theme.ACCENT,
}


@dataclass(slots=True)
class Sheet:
    """Rows from top to bottom, and the vectors that they name by number."""

    name: str
    """For screen readers."""
    shares: LogitAttribution | None = None
    """Those that rows show, if any."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """As JSON; `model.ts` knows the kinds."""
    vectors: list[Tensor] = field(default_factory=list)
    """Each of its own width, float32."""

    def keep(self, vector: Tensor) -> int:
        """Keep a vector; return its number."""
        self.vectors.append(vector.float().contiguous())
        return len(self.vectors) - 1

    def add(self, kind: str, title: str = "", note: str = "", **values: Any) -> None:
        """Add a row; those without a title belong to the stage above."""
        self.rows.append({"kind": kind, "title": title, "note": note, **values})

    def add_vector(
        self,
        vector: Tensor,
        scale: str,
        title: str = "",
        note: str = "",
        *,
        before: Tensor | None = None,
        said: Sequence[tuple[str, float]] = (),
        **values: Any,
    ) -> None:
        """Add the row of a vector.

        Args:
            vector: [D].
            scale: Vectors of one scale share their colours.
            title, note: Title and note of the stage that begins here.
            before: The vector that it is compared with.
            said: Words that the masked-word head would predict, with their probabilities.
            values: Further values of the row.
        """
        words, probabilities = zip(*said, strict=True) if said else ((), ())
        self.add(
            "vector",
            title,
            note,
            vector=self.keep(vector),
            scale=scale,
            norm=float(vector.norm()),
            cosine=None if before is None else float(torch.cosine_similarity(vector, before, 0)),
            said={"words": words, "probabilities": probabilities} if said else None,
            **values,
        )

    def message(self) -> bytes:
        """Return what the drawing shows."""
        header = {
            "kind": "sheet",
            "name": self.name,
            "rows": self.rows,
            "widths": [len(vector) for vector in self.vectors],
            "word": None if self.shares is None else self.shares.word,
            "against": None if self.shares is None else self.shares.against,
            "colors": COLOURS,
        }
        flat = np.concatenate([vector.numpy() for vector in self.vectors])
        return transport.pack(header, flat.astype(np.float16), theme.diverging_bytes())


def activation_name(name: str) -> str:
    """Return how an activation of config.json is shown."""
    is_gelu = name.startswith("gelu") and name != "gelu_10"
    return "GELU" if is_gelu else {"relu": "ReLU"}.get(name, name)


def layer_sheet(token: TokenInLayer) -> Sheet:
    """Return the rows of one token in one layer, in the order of computation."""
    sheet = Sheet(f"{token.tokens[token.position]} in layer {token.layer}", token.shares)
    parts, is_modern, said = token.parts, token.parts.gates is not None, token.predictions
    hidden, state = parts.hidden[0], parts.attention_state[0]
    words = said.get("hidden", ())
    sheet.add_vector(
        hidden, "state", "Vector so far", state_name(token.layer), said=words, residual="from"
    )
    if is_modern and token.layer:
        note = "before the block: what attention reads"
        sheet.add_vector(parts.attention_input[0], "normed", "LayerNorm", note, before=hidden)
    _add_heads(sheet, token)
    words = said.get("attention_state", ())
    biases = _share(token, "attention_bias")
    if is_modern:
        values = {"before": hidden, "said": words, "residual": "to from", **biases}
        sheet.add_vector(parts.attention_sum[0], "state", "Add", RESIDUAL, **values)
        note = "before the block: what the neurons read"
        sheet.add_vector(parts.feed_forward_input[0], "normed", "LayerNorm", note, before=state)
    else:
        values = {"before": hidden, "label": "sum", "residual": "to"}
        sheet.add_vector(parts.attention_sum[0], "sum", "Add & norm", RESIDUAL, **values)
        values = {"before": hidden, "label": "LayerNorm", "residual": "from", **biases}
        sheet.add_vector(state, "state", said=words, **values)
    _add_neurons(sheet, token)
    summed, output = parts.feed_forward_sum[0], parts.output[0]
    words, biases = said.get("output", ()), _share(token, "feed_forward_bias")
    if is_modern and token.is_last:
        sheet.add_vector(summed, "state", "Add", RESIDUAL, before=state, residual="to")
        note = "what the heads read"
        sheet.add_vector(output, "normed", "Final LayerNorm", note, before=state, said=words)
    elif is_modern:
        values = {"before": state, "said": words, "residual": "to", **biases}
        sheet.add_vector(summed, "state", "Add", RESIDUAL, **values)
    else:
        values = {"before": state, "label": "sum", "residual": "to"}
        sheet.add_vector(summed, "sum", "Add & norm", RESIDUAL, **values)
        sheet.add_vector(output, "state", before=state, label="LayerNorm", said=words, **biases)
    return sheet


def _share(token: TokenInLayer, kind: PartKind) -> dict[str, Any]:
    """Return the share of a kind in this layer as a value of a row; biases may have none."""
    share = None if token.shares is None else token.shares.total(kind, layer=token.layer)
    is_bias = kind.endswith("bias")
    return {"share": share or None, "share_of": "biases"} if is_bias else {"share": share}


def _add_heads(sheet: Sheet, token: TokenInLayer) -> None:
    parts, shares = token.parts, token.shares
    hidden = parts.hidden[0]
    values = {"before": hidden, "label": f"{len(parts.weights)} heads", **_share(token, "head")}
    note = "each head reads tokens and writes a vector; this is their sum"
    sheet.add_vector(parts.attention_output[0], "write", "Attention", note, head=-1, **values)
    for head in range(len(parts.weights)):
        weights = parts.weights[head, 0]
        best = weights.topk(min(NUM_SOURCES, len(weights))).indices.tolist()
        sheet.add_vector(
            parts.head_outputs[head, 0],
            "write",
            before=hidden,
            label=f"head {head}",
            share=None if shares is None else shares.heads(token.layer)[head],
            head=head,
            query=sheet.keep(parts.queries[head, 0]),
            mix=sheet.keep(parts.context[head, 0]),
            sources=[
                {
                    "token": token.tokens[place],
                    "position": place,
                    "weight": float(weights[place]),
                    "score": float(parts.scores[head, 0, place]),
                    "key": sheet.keep(parts.keys[head, place]),
                    "value": sheet.keep(parts.values[head, place]),
                    "share": None
                    if shares is None
                    else float(shares.sources[token.layer, head, place]),
                }
                for place in best
                if weights[place] != 0  # the others may be masked
            ],
        )


def _add_neurons(sheet: Sheet, token: TokenInLayer) -> None:
    parts = token.parts
    active, state = parts.activations[0], parts.attention_state[0]
    firing = int((parts.pre_activations[0] > 0).sum())
    name = activation_name(token.activation) + ("" if parts.gates is None else " times a gate")
    sheet.add(
        "neurons",
        "Feed-forward",
        f"{len(state):,} → {len(active):,} neurons, {name}",
        label=f"{firing:,} of {len(active):,} fire",
        vector=sheet.keep(active),
        scale="neurons",
        cards=[
            {name: getattr(neuron, name) for name in ("neuron", "activation", "share", "words")}
            for neuron in token.neurons
        ],
    )
    values = {"before": state, "label": "writes", **_share(token, "feed_forward")}
    sheet.add_vector(parts.feed_forward_output[0], "write", **values)


def word_sheet(steps: WordSteps) -> Sheet:
    """Return the rows of the masked-word head at a token."""
    sheet = Sheet(f"The masked-word head at {steps.token}")
    sheet.add_vector(steps.state, "state", "Last state", "of the token")
    widths = f"{len(steps.state):,} → {len(steps.dense):,} numbers"
    sheet.add_vector(steps.dense, "dense", "Dense", f"a linear layer, {widths}")
    name = activation_name(steps.activation_name)
    below = "zero" if name == "ReLU" else "small"
    note = f"negatives become {below}, positives stay"
    sheet.add_vector(steps.activation, "dense", name, note)
    sheet.add_vector(steps.norm, "norm", "LayerNorm", "compared with every word")
    note = f"the token table, {len(steps.logits):,} words, and a bias for each"
    sheet.add("logits", "Decoder", note, entries=[word._asdict() for word in steps.best])
    return sheet


def pooler_sheet(steps: PoolerSteps) -> Sheet:
    """Return the rows of the pooler, and for a pair those of the head that reads it."""
    sheet = Sheet("The pooler")
    sheet.add_vector(steps.state, "state", "Last state", f"of {steps.token}")
    sheet.add_vector(steps.dense, "dense", "Dense", "a linear layer")
    sheet.add_vector(steps.pooled, "pooled", "tanh", "between −1 and 1: the pooled vector")
    if steps.logits is not None and steps.is_pair:
        title = "Next sentence" if steps.kind == "nsp" else "Sentence order"
        probabilities = torch.softmax(steps.logits, -1).tolist()
        rows = zip(ANSWERS[steps.kind], steps.logits.tolist(), probabilities, strict=True)
        entries = [{"word": name, "logit": logit, "probability": p} for name, logit, p in rows]
        sheet.add("pair", title, "two logits, then softmax", entries=entries)
    return sheet


def stages_message(stages: LayerStages, selected: int = 0) -> bytes:
    """Return what the drawing shows of all tokens; the selected one is always drawn."""
    rows = rows_to_draw(stages.text_ids, keep=[selected])
    header = {
        "kind": "all",
        "name": "All tokens in this layer",
        "stages": stages.stages,
        "tokens": [stages.tokens[row] for row in rows],
        "positions": rows,
        "text_ids": [stages.text_ids[row] for row in rows],
        "firing": [stages.firing[row] for row in rows],
        "selected": selected,
        "colors": COLOURS,
    }
    bands = np.stack([mean_bands(vectors[rows]) for vectors in stages.vectors])
    numbers = (of[:, rows].numpy().astype(np.float32) for of in (stages.norms, stages.cosines))
    return transport.pack(header, bands, *numbers, theme.diverging_bytes())
