"""What the page shows: each view is a function of the core, a picture, and how to read it."""

from collections.abc import Mapping

from torch import Tensor

from bertcore.analysis.heads.attention import (
    AttentionMap,
    all_neurons,
    attention_map,
    attention_overview,
    decoder_trace,
    head_steps,
    layer_attention,
    norm_map,
    rollout_map,
    zeroing_map,
)
from bertcore.model.others.model import DecoderTrace

from ...parts.bertviz_views import view as bertviz
from ...parts.canvas.heat_map import heat_map
from ...parts.canvas.lines import lines
from ...parts.canvas.neurons import neurons
from ...parts.canvas.overview import overview
from ...plots import Figure, cell_table
from ...plots.charts import Grid
from ...plots.tables import arrays, tensors
from ...view import View

LAYER_ARRAYS = arrays(attention="weights", tokens="input.tokens", segment_ids="input.segment_ids")
MAP_ARRAYS = arrays(fractions="values", tokens="input.tokens")


def masked_words(allowed: Tensor | None) -> str:
    """Return what a mask of `allowed_keys` leaves out, in a sentence."""
    if allowed is None or bool(allowed.all()):
        return "Nothing is masked: in one text every token may attend to every token."
    if not bool(allowed.triu(1).any()):
        return "Later tokens are masked: whatever their score, their weight is 0."
    rows, columns = allowed.nonzero().T
    return (
        f"Tokens more than {int((rows - columns).abs().max())} away are masked (the window of this "
        "layer): whatever their score, their weight is 0."
    )


def _note(note: str) -> dict[str, str]:
    return {"note": f"\n\n**{note}**" if note else ""}


OVERVIEW = View(
    name="attention-overview",
    question="What do the other heads do?",
    of=attention_overview,
    part=overview.part,
    table=tensors("measures"),
    how=(
        "One map per head: rows are layers, columns are heads, both counted from 0. Click a head "
        "to open it below.\n\n"
        "In a map, a row is the token that attends, a column the one that it attends to. The "
        "diagonal is attention to the token itself; a line beside it is attention to a neighbour; "
        "a vertical stripe is a token that all attend to. *Measure* shows a number under each "
        "head, by which heads can be sorted and dimmed; the page Heads measures many sentences."
        "{note}"
    ),
    fills=lambda shown: _note(shown.note),
)
LINES = View(
    name="attention-layer",
    question="Which tokens do the heads of a layer attend to?",
    of=layer_attention,
    part=lines.part,
    table=LAYER_ARRAYS,
    how=(
        "Each line goes from a token (left) to one that it attends to (right). The thicker the "
        "line, the more attention.\n\n"
        "The colour is the head. Lines from 10% on are drawn, and the strongest of each token; "
        "*More* shows all. The weights that leave a token in one head sum to 100%. A click keeps a "
        "token, Shift and a click adds more: what they attend to is averaged, what they receive is "
        "summed. With the keyboard: arrows, Enter to keep, Space to add, Esc to let go. Each "
        "piece's weight is accurate to 0.3 percentage points here, and exact in the heat map and "
        "the NPZ. Attention shows where a head takes information from, not why BERT decides as it "
        "does.{note}"
    ),
    fills=lambda shown: _note(shown.input.note),
)
MAP = View(
    name="attention-map",
    question="How strongly does each token attend to each other?",
    of=attention_map,
    part=heat_map.part,
    table=arrays(attention="values", tokens="input.tokens"),
    how=heat_map.HOW + "{note}",
    fills=lambda shown: _note(shown.input.note),
)
_NO_CAUSE = (
    " Each row is divided by its sum. No such map says why BERT decides as it does: to test a "
    "cause, change the text or switch heads off."
)
NORMS = View(
    name="attention-norms",
    question="How much does each token receive from each other?",
    of=norm_map,
    part=heat_map.part,
    table=MAP_ARRAYS,
    needs=frozenset({"parts"}),
    how=(
        "How long the vector is that the row's token receives from the column's.\n\n"
        "It is weight times value, through the output projection (Kobayashi et al. 2020). A large "
        "weight on a short vector has little effect: a head that finds nothing may rest on "
        "\\[SEP\\]. What a token keeps through the residual connection is not in it." + _NO_CAUSE
    ),
)
ZEROING = View(
    name="attention-zeroing",
    question="How far does each token change without the value of each other?",
    of=zeroing_map,
    part=heat_map.part,
    table=MAP_ARRAYS,
    needs=frozenset({"parts"}),
    how=(
        "How far the row's vector turns at the end of the layer if the column's value is zero in "
        "all heads.\n\n"
        "The number is 1 − cosine (Mohebbi et al. 2023), residual connection, LayerNorm and "
        "feed-forward included. Two tokens that stand in for each other both seem to matter "
        "little." + _NO_CAUSE
    ),
)
ROLLOUT = View(
    name="attention-rollout",
    question="How much of each token of the text reaches a layer?",
    of=rollout_map,
    part=heat_map.part,
    table=MAP_ARRAYS,
    how=(
        "How much of each token of the text (columns) reaches the row's token by this layer.\n\n"
        "The map is the product of ½ I + ½ A over the layers (Abnar and Zuidema 2020); of one "
        "head, through the head of that number in each layer. It knows the weights alone: all "
        "heads count as equally strong, and values and feed-forward are not in it." + _NO_CAUSE
    ),
)
MEASURED: Mapping[str, tuple[str, View[AttentionMap]]] = {
    "norms": ("Norms", NORMS),
    "zeroing": ("Value zeroing", ZEROING),
    "rollout": ("Rollout", ROLLOUT),
}
"""What the weights hide: maps beside them, with their names."""
NEURONS = View(
    name="neurons",
    question="How is a weight computed?",
    of=head_steps,
    part=neurons.part,
    table=arrays(
        queries="neurons.queries",
        keys="neurons.keys",
        scores="neurons.scores",
        attention="weights",
        allowed="neurons.allowed",
        tokens="input.tokens",
    ),
    needs=frozenset({"queries"}),
    fills=lambda steps: {
        "head_width": steps.neurons.queries.shape[-1],
        "mask": masked_words(steps.neurons.allowed),
    },
    how=(
        "The query of a token is multiplied by each token's key, number by number: blue products "
        "raise the weight, orange ones lower it.\n\n"
        "A row's products sum to q·k; divided by √{head_width}, this is the score, and the softmax "
        "of the scores gives the weights, which sum to 100%. {mask} The arrow keys change the "
        "tokens, Enter makes the marked key the query. A dimension has no meaning of its own: the "
        "head would do the same if all were rotated together."
    ),
)


_BERTVIZ = (
    "These are BertViz's own views, as in notebooks, but they work offline.\n\n"
    "In a notebook: `bertscope.notebook.show_bertviz`. Head view: choose a layer, click a coloured "
    "square to toggle a head, double-click to show it alone. Model view: rows are layers, columns "
    "are heads; click one to enlarge it. Neuron view: point at a token on the left and click its "
    "plus sign to see query times key, the score and the softmax."
)
BERTVIZ = View(
    name="attention-bertviz",
    question="What does each head attend to, as BertViz draws it?",
    of=layer_attention,
    part=bertviz.part,
    table=LAYER_ARRAYS,
    how=_BERTVIZ,
)
BERTVIZ_NEURONS = View(
    name="attention-bertviz-neuron",
    question="How is a weight computed, as BertViz draws it?",
    of=all_neurons,
    part=bertviz.part,
    table=arrays(queries="queries", keys="keys", attention="attentions", tokens="input.tokens"),
    needs=frozenset({"queries"}),
    how=_BERTVIZ,
)


def decoder_map(
    decoder: DecoderTrace, side: str = "cross", layer: int = -1, head: int | None = None
) -> Figure:
    """Draw one head of the decoder, or the mean of a layer (None).

    Args:
        side: "cross" for the attention to the text, "own" for that to what it wrote.
    """
    is_cross = side == "cross"
    maps = (decoder.cross_attentions if is_cross else decoder.attentions)[layer].float()
    weights = (maps.mean(0) if head is None else maps[head]).numpy()
    columns = decoder.source_tokens if is_cross else decoder.tokens
    writes = [
        f"{token} (writes {word})"
        for token, word in zip(decoder.tokens, decoder.written, strict=True)
    ]
    grid = Grid(
        row="row",
        column="column",
        names=("token", "attended"),
        value="weight",
        form=".2f",
        title="weight",
        bounds=(0, 1),
    )
    down = {"row": range(len(writes)), "token": writes}
    across = {"column": range(len(columns)), "attended": columns}
    return grid.draw(cell_table(down, across, weight=weights))


DECODER = View(
    name="decoder-attention",
    question="What does the decoder attend to as it writes?",
    of=decoder_trace,
    figure=decoder_map,
    table=arrays(
        attention="attentions",
        cross_attention="cross_attentions",
        tokens="tokens",
        source_tokens="source_tokens",
        most_probable_next="written",
    ),
    needs=frozenset({"decoder"}),
    how=(
        "Each row is a token that the decoder reads; from its state the decoder writes the next "
        "one (in brackets).\n\n"
        "BART's decoder reads the text itself, shifted by one, as in its training; T5's reads what "
        "it has written so far, greedily decoded. Cross-attention goes to the encoder's tokens; "
        "self-attention goes to the decoder's own tokens, never to later ones. Each row sums to 1."
    ),
)
