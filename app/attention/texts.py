"""What the app says on the page: Attention."""

from __future__ import annotations

TEXTS: dict[str, str] = {}
CODE: dict[str, str] = {}

TEXTS["attention.overview"] = (
    "One picture per head; rows are layers, columns heads, both counted from 0. A diagonal is a "
    "head that looks at neighbours, a vertical stripe a token that all look at. Point at a head "
    "for its numbers; click to open it below. *Measure* writes one number under each head: sort by "
    "it and dim the rest, to find the head that does most of it. The page Heads counts the same "
    "over many sentences, and finds grammar."
)
TEXTS["attention.lines"] = (
    "Each line goes from a token (left) to a token it looks at (right); colour is the head, "
    "strength the weight. The weights that leave a token in one head sum to 100%, and hidden lines "
    "are not shared out among the others. Shift and a click choose several tokens: what they look "
    "at is averaged, what they get is summed. Each weight here is within 0.3 percentage points; "
    "the heat map and the NPZ below the view are exact. Attention says where a head takes "
    "information from, not why BERT decides as it does."
)
TEXTS["attention.map"] = (
    "Each row is a token that looks, each column a token that is looked at; a row sums to 1. "
    "Brightness follows the square root of the weight, so that small weights are seen too; the "
    "numbers are the weights. The wheel zooms, dragging moves, a double click shows the whole; a "
    "click marks a row and a column, by which the other can be ordered. "
    "A bright cell says that information was taken from there, not that it decided anything."
)
TEXTS["attention.neurons"] = (
    "The query q of the token that looks is multiplied with the key k of each token, dimension by "
    "dimension: blue products speak for looking there, orange ones against it. A row's products "
    "sum to q·k; divided by √{width} that is the score, and the softmax of all scores gives the "
    "weights, which sum to 100%. Nothing is masked: in one text every token may look at every "
    "token. The arrow keys change the tokens, Enter lets the marked key look. A dimension has no "
    "meaning of its own: the head would do the same if all were turned together."
)
TEXTS["attention.neurons_one"] = (
    "Queries and keys belong to one head: this is head {head}. Another is chosen below or in the "
    "overview."
)
TEXTS["attention.bertviz"] = (
    "These are BertViz's own views, as in notebooks, working without a network. Head view: choose "
    "a layer, click a coloured square to switch a head, double click to see it alone. Model view: "
    "rows are layers, columns heads; click one to enlarge it. Neuron view: point at a token on the "
    "left and click its plus sign to see query times key, the score and the softmax; its dot "
    "products are divided by the root of the head's width, as in BERT."
)
TEXTS["attention.bertviz_limit"] = (
    "BertViz draws every weight as a line of its own, so only the first {shown} of {total} tokens "
    "are shown here. What they pay to the others is left out: rows do not sum to 1. The lines and "
    "the heat map show all tokens."
)
TEXTS["attention.bertviz_numbers"] = (
    "BertViz gets every number of every head's queries and keys at once, so only the first {shown} "
    "of {total} tokens are shown here. What they pay to the others is left out: rows do not sum to "
    "1. *Neurons* shows all tokens."
)
TEXTS["attention.switch_off"] = (
    "Opens What if with it off: what BERT answers with and without it, side by side."
)
TEXTS["attention.decoder"] = (
    "Each row is a token that the decoder reads; from its state it writes the next (point at a "
    "cell to see which). BART's decoder reads the text itself, one place later, as in its "
    "training; T5's reads what it wrote so far, the most probable token each time. Cross-attention "
    "looks at the tokens of the encoder, self-attention at the decoder's own and never ahead. A "
    "row sums to 1; brightness follows the square root of the weight."
)
CODE["attention.decoder"] = """import bertcore

bert = bertcore.load({source!r})
found = bert.decoder({a!r}, {b!r})
found.{which}[{layer}].{part}     # [Td, N], rows are found.tokens
"""
