"""What the app says: page titles, purposes, and how to read each picture.

Each page's author adds a block of their own below; keys are "page.picture".
"""

from __future__ import annotations

import re

PAGES: dict[str, tuple[str, str]] = {
    "tokens": (
        "Tokens & embeddings",
        "How BERT cuts a sentence into pieces, and the three vectors it adds up for each of them.",
    ),
    "attention": (
        "Attention",
        "Where each token looks, in every head of every layer.",
    ),
    "masked-words": (
        "Masked words",
        "Hide words and see what BERT puts in their place, and in which layer it gets the idea.",
    ),
    "sentence-pairs": (
        "Sentence pairs",
        "Does the second sentence follow the first? The task that gave BERT its [CLS] token.",
    ),
    "layer-map": (
        "Layer map",
        "The same words as points, layer by layer: watch meanings move together and apart.",
    ),
    "checkpoints": (
        "Checkpoints",
        "Open a BERT of your own, and see what is inside and whether all of it was read.",
    ),
}
"""Title and purpose of each page, by its name in the address."""

TEXTS: dict[str, str] = {}
"""How to read each picture, as Markdown."""

CODE: dict[str, str] = {}
"""Python that makes a picture's numbers, to follow `Page.setup_code`."""

# ---- frame ----
TEXTS["frame.too_long_for_link"] = (
    "The text is too long for a link: it stays here while you change pages, "
    "but the address alone does not bring it back."
)
TEXTS["frame.unexpected"] = (
    "Something went wrong in this view that should not have ({kind}). Your text and choices are "
    "kept: change one of them, or choose another page. The server's log has the details."
)

# ---- tokens ----
TEXTS["tokens.strip"] = (
    "Each box is a word, each part of it a token with its number in the vocabulary; ## means that "
    "a piece continues the word. Choose a token with the mouse, or with the arrow keys and Enter: "
    "the pictures below follow it."
)
TEXTS["tokens.steps"] = (
    "WordPiece looks for the longest beginning of the word that the vocabulary has, then goes on "
    "with the rest. Crossed out is what it tried and did not find."
)
TEXTS["tokens.sum"] = (
    "Every column is a token, every line of a strip one of the {num_dims} dimensions. BERT adds "
    "the three vectors of a column, and that is all it ever learns about which word, which "
    "sentence and which place. The curves below are the vectors' lengths; hover over them for the "
    "angles between the three and for what each contributes to the sum."
)
TEXTS["tokens.sum_cut"] = (
    "Only the first {drawn} of {num_dims} dimensions are drawn for a text this long; the download "
    "has all of them."
)
TEXTS["tokens.norm"] = (
    "LayerNorm subtracts from a token's numbers their mean, divides by their standard deviation, "
    "and then applies one learned gain and bias for each dimension. Vectors of different lengths "
    "come out nearly equally long. Before, {token} has mean {mean_before:.3f} and standard "
    "deviation {std_before:.3f}; after, {mean_after:.3f} and {std_after:.3f}."
)
TEXTS["tokens.leave_one_out"] = (
    "The text is run again without the segment vectors, and without the position vectors. Cosine "
    "1 means that a token's vector did not turn at all; the lower, the more it depends on what was "
    "left out. A small change at the input may grow or fade on the way to the last layer."
)
TEXTS["tokens.positions"] = (
    "BERT has no rule for places: each position has a vector that was learned. Neighbours that "
    "look alike form a bright diagonal; far from it, places are told apart. The marked line is the "
    "chosen token's position, drawn below as a curve."
)
TEXTS["tokens.nearest"] = (
    "The pieces whose rows in the token table point the most in the direction of the chosen "
    "token's: what the model holds for alike before it has read any context."
)
TEXTS["tokens.added"] = (
    "{token} is no piece of the text: BERT adds \\[CLS\\] in front, where a whole-text answer is "
    "read off, and \\[SEP\\] after each sentence. Choose a word to see how it is cut."
)
CODE["tokens.sum"] = """
parts = trace.embeddings            # token, segment, position, sum, output: each [T, D]
lengths = parts.sum.norm(dim=-1)
"""
CODE["tokens.norm"] = """
from bertcore.analysis.embeddings import norm_numbers

numbers = norm_numbers(trace.embeddings)    # mean, std and norm, before and after
"""
CODE["tokens.leave_one_out"] = """
from bertcore.analysis.embeddings import leave_one_out

result = leave_one_out(bert, trace.text_a, trace.text_b)
result.cosines["position"]          # [L+1, T]
"""
CODE["tokens.positions"] = """
from bertcore.analysis.embeddings import position_similarity

cosines = position_similarity(bert, {size})     # [P, P]
"""
CODE["tokens.nearest"] = """
from bertcore.analysis.embeddings import nearest_words

nearest_words(bert, trace.input_ids[{index}], top_k=12)
"""


# ---- attention ----
TEXTS["attention.overview"] = (
    "One picture per head; rows are layers, columns heads, both counted from 0. A diagonal is a "
    "head that looks at neighbours, a vertical stripe a token that all look at. Point at a head for "
    "its numbers; click to open it below."
)
TEXTS["attention.lines"] = (
    "Each line goes from a token (left) to a token it looks at (right); colour is the head, "
    "strength the weight. The weights that leave a token in one head sum to 100%, and hidden lines "
    "are not shared out among the others. Numbers on the right are within 0.3 percentage points; "
    "the heat map and the download are exact. Attention says where a head takes information from, "
    "not why BERT decides as it does."
)
TEXTS["attention.heat_map"] = (
    "Each row is a token that looks, each column a token that is looked at; a row sums to 1. "
    "Brightness follows the square root of the weight, so that small weights are seen too; the "
    "numbers are the weights. Drag a rectangle to zoom in, double click to come back. "
    "A bright cell says that information was taken from there, not that it decided anything."
)
TEXTS["attention.bertviz"] = (
    "These are BertViz's own views, as in notebooks, working without a network. Head view: choose "
    "a layer, click a coloured square to switch a head, double click to see it alone. Model view: "
    "rows are layers, columns heads; click one to enlarge it."
)
TEXTS["attention.bertviz_limit"] = (
    "BertViz draws every weight as a line of its own, so only the first {shown} of {total} tokens "
    "are shown here. What they pay to the others is left out: rows do not sum to 1. The lines and "
    "the heat map show all tokens."
)


def plain(text: str) -> str:
    """Return text that Streamlit's Markdown shows letter by letter.

    Texts and names come from strangers: `![](http://...)` in them would fetch a picture.

    >>> plain("a_b [x](y)")
    'a\\\\_b \\\\[x\\\\]\\\\(y\\\\)'
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)

# ---- layer-map ----
TEXTS["layer-map.pca"] = (
    "Each point is a token; near points have similar vectors. Move the slider, or press Play, to "
    "follow them from the embeddings (layer 0) to the last layer. PCA shows the two or three "
    "directions in which the points differ most and hides all others: the chart "
    "*How true is the map?* says how much that is. In *one map for all* a place means the same in "
    "every layer; in *each by itself* every layer has its own best view, turned to fit the one "
    "before and drawn at one size. Search a word to ring it and to see its path."
)
TEXTS["layer-map.umap"] = (
    "Each point is a token; UMAP keeps neighbours together and lets go of large distances. "
    "Believe who is near whom; do not read the size of a cluster or the gap between two. Change "
    "the seed and the number of neighbours under *More*: what stays is real, what moves is not."
)
TEXTS["layer-map.labels"] = (
    "Measured on the full vectors, not on the map. The first curve: of a point's nearest "
    "neighbours, the share with its own label. It rises where the layers begin to tell the labels "
    "apart. Silhouette 1 is far apart, 0 is mixed."
)
TEXTS["layer-map.isotropy"] = (
    "Cosine 0: the vectors use all directions. Near 1: all point the same way, and every two "
    "words look alike. If one word in two places is much more alike than two words are, the layer "
    "still holds the word itself; as the curves meet, context has taken over."
)
TEXTS["layer-map.truth"] = (
    "Trustworthiness 1: points that are near in the map are near in truth; 0.5 is chance. Shared "
    "neighbours: of the nearest points by the full vectors, how many are nearest in the map too. "
    "Low values mean: do not trust single neighbours in this picture."
)
TEXTS["layer-map.no_pasted"] = (
    "Paste some sentences above, one a line. Ten to a few hundred make a good map."
)
TEXTS["layer-map.no_file"] = (
    "Upload a text or CSV file above. The first 2,000 sentences and 2,000 tokens are drawn."
)
