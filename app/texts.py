"""What the app says: page titles, purposes, and how to read each picture.

Each page's author adds a block of their own below; keys are "page.picture".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bertcore import Tokenizer

PAGES: dict[str, tuple[str, str]] = {
    "tokens": (
        "Tokens & embeddings",
        "How BERT cuts a sentence into pieces, and the three vectors it adds up for each of them.",
    ),
    "attention": (
        "Attention",
        "Where each token looks, in every head of every layer.",
    ),
    "mixing": (
        "How tokens mix",
        "Where a token's information comes from: what attention weights show, and what they hide.",
    ),
    "heads": (
        "Heads",
        "What each attention head does over many sentences: its habits, and the grammar it finds.",
    ),
    "masked-words": (
        "Masked words",
        "Hide words and see what BERT puts in their place, and in which layer it gets the idea.",
    ),
    "sentence-pairs": (
        "Sentence pairs",
        "Does the second sentence follow the first? The task that gave BERT its [CLS] token.",
    ),
    "what-if": (
        "What if?",
        "Switch heads and layers off, change who may look at whom, and see what BERT says then.",
    ),
    "minimal-pair": (
        "Minimal pair",
        "Two versions of a text that differ in a word: what BERT says, looks at and thinks then.",
    ),
    "layer-map": (
        "Layer map",
        "The same words as points, layer by layer: watch meanings move together and apart.",
    ),
    "checkpoints": (
        "Checkpoints",
        "Open a BERT of your own, and see what is inside and whether all of it was read.",
    ),
    "training": (
        "Training",
        "Start a small BERT, watch it learn, and play its training again.",
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
TEXTS["frame.hub_link"] = (
    "This link asks for **{source}**, which is not on this machine. It would be fetched from the "
    "Hugging Face hub. Nothing is fetched unless you say so; or choose another checkpoint."
)
TEXTS["frame.pickle"] = (
    "This checkpoint has its weights in a pickle, a kind of file that can carry programs. If you "
    "know where it comes from, BertScope reads the weights in it and nothing else."
)

# ---- tokens ----
TEXTS["tokens.strip"] = (
    "Choose a token with the mouse, or with the arrow keys and Enter: the pictures below follow "
    "it. {mark}"
)
PIECE_MARKS = {
    "WordPiece": "## continues a word.",
    "byte-level BPE": "Ġ stands for the space before a word; letters beyond English are cut into "
    "bytes, each written as some letter.",
    "Unigram": "▁ stands for the space before a word.",
}
"""How a kind of tokenizer marks where words begin or go on."""


def mark_of(tokenizer: Tokenizer) -> str:
    """Return how a tokenizer marks its pieces, as a sentence; empty for other kinds."""
    return PIECE_MARKS.get(tokenizer.kind, "")


TEXTS["tokens.no_steps"] = (
    "This checkpoint's tokenizer is {kind}, not WordPiece: its pieces are shown, but how it came "
    "to them is not explained here."
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
    "and then applies one learned gain and bias for each dimension: vectors of different lengths "
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
    "{token} is no piece of the text: it is added in front (\\[CLS\\] in BERT), where a whole-text "
    "answer is read off, and after each sentence (\\[SEP\\]). Choose a word to see how it is cut."
)
CODE["tokens.strip"] = """
import pandas as pd
from bertcore.analysis.embeddings import token_columns

pd.DataFrame(token_columns(trace))
"""
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
    "head that looks at neighbours, a vertical stripe a token that all look at. Point at a head "
    "for its numbers; click to open it below. *Measure* writes one number under each head: sort by "
    "it and dim the rest, to find the head that does most of it."
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
    "rows are layers, columns heads; click one to enlarge it."
)
TEXTS["attention.bertviz_limit"] = (
    "BertViz draws every weight as a line of its own, so only the first {shown} of {total} tokens "
    "are shown here. What they pay to the others is left out: rows do not sum to 1. The lines and "
    "the heat map show all tokens."
)

# ---- checkpoints ----
TEXTS["checkpoints.open"] = (
    "A folder holds config.json, model.safetensors and vocab.txt or tokenizer.json, as "
    "`bertscope pretrain` and transformers write them. A hub id is fetched from the "
    "Hugging Face hub, the only time that BertScope uses the network."
)
TEXTS["doctor.patience"] = "Looking at every matrix and at eight sentences"
TEXTS["doctor.spectrum"] = (
    "Each dot is a matrix; the dotted line at 1 is where the largest singular value of random "
    "numbers of the same spread lies (Marchenko and Pastur). Training pulls matrices above it, for "
    "what was learned are directions that stand out. A layer whose dots all lie on the line was "
    "not trained. The scale is logarithmic."
)
TEXTS["doctor.entropy"] = (
    "Bright: a head that spreads its attention over all tokens alike (1); dark: one that looks at "
    "few. Mean over eight sentences. A bright head here and there is normal, above all in the "
    "first layer; if all are bright, queries and keys have learned nothing, which is the usual "
    "reason why attention *looks uniform*."
)
CODE["doctor"] = """
from bertcore.analysis.doctor import examine

found = examine(bert)
found.verdict, found.sentences()
found.entropies                             # [L, H]
"""
TEXTS["checkpoints.zip"] = (
    "Zip the folder of the checkpoint. Only config, tokenizer, model card and weights are "
    "unpacked, on the machine where BertScope runs. The last five uploads are kept there."
)
TEXTS["checkpoints.memory"] = (
    "Checkpoints are shared by everybody who uses this server; the longest unused is let go when "
    "there are too many. What is unloaded opens again when somebody needs it."
)
CODE["checkpoints.parameters"] = """
from bertcore.analysis.parameters import count_parameters

count_parameters(bert)
"""
TEXTS["checkpoints.parameters"] = (
    "Each bar is a part of the network, its length the number of parameters, the numbers that "
    "training sets. In small BERTs most of them are the token table."
)
TEXTS["checkpoints.tensors"] = (
    "Every tensor of the file and every one that BERT asks for. Missing ones belong to a head that "
    "the file does not have; unexpected ones are no part of BERT, such as a classifier from "
    "fine-tuning, and are not used. A tensor of the wrong shape is never loaded."
)
TEXTS["checkpoints.no_card"] = (
    "This checkpoint has no model card (README.md), so nobody says what it was trained on."
)
CODE["checkpoints.tensors"] = """
for line in bert.report.sentences():
    print(line)
bert.report.matched, bert.report.missing, bert.report.unexpected
"""

CONFIG_MEANINGS: dict[str, str] = {
    "vocab_size": "rows of the token table, V",
    "hidden_size": "width of a token's vector, D",
    "num_hidden_layers": "encoder layers, L",
    "num_attention_heads": "attention heads of a layer, H",
    "intermediate_size": "width inside the feed-forward block, F",
    "hidden_act": "activation function",
    "hidden_dropout_prob": "share of activations dropped in training",
    "attention_probs_dropout_prob": "share of attention weights dropped in training",
    "max_position_embeddings": "rows of the position table: the longest input in tokens",
    "type_vocab_size": "rows of the segment table",
    "initializer_range": "standard deviation of the starting weights",
    "layer_norm_eps": "added to the variance inside LayerNorm",
    "pad_token_id": "id of the padding token",
    "embedding_size": "width of the embeddings, E, which a matrix brings to D",
    "sinusoidal_pos_embds": "whether the position table holds sines and is not trained",
    "num_hidden_groups": "groups of layers with weights of their own; 1: all layers are one",
}
"""What each field of config.json means."""


def plain(text: str) -> str:
    """Return text that Streamlit's Markdown shows letter by letter.

    Texts and names come from strangers: `![](http://...)` in them would fetch a picture.

    >>> plain("a_b [x](y)")
    'a\\\\_b \\\\[x\\\\]\\\\(y\\\\)'
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


# ---- layer-map ----
TEXTS["layer-map.pca"] = (
    "Each point is a token (or a word, or a sentence); near points have similar vectors. Move the "
    "slider, or press Play, to follow them from the embeddings (layer 0) to the last layer. PCA "
    "shows the directions in which the points differ most and hides all others; *How true is the "
    "map?* says how much that is. Search a word to ring it and see its path. Under *More*: with "
    "*one map for all*, a place means the same in every layer (each is first brought to one centre "
    "and size); with *each by itself*, every layer has its own best view, turned to fit the one "
    "before."
)
TEXTS["layer-map.umap"] = (
    "UMAP keeps neighbours together and lets go of large distances. "
    "Believe who is near whom; do not read the size of a cluster or the gap between two. Change "
    "the seed and the number of neighbours under *More*: what stays is real, what moves is not."
)
TEXTS["layer-map.labels"] = (
    "Measured on the full vectors, not on the map. The first curve: of a point's nearest "
    "neighbours in other sentences, the share with its own label. It rises where the layers begin "
    "to tell the labels apart. Silhouette 1 is far apart, 0 is mixed."
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

# ---- masked words ----
TEXTS["words.strip"] = "Click a token to hide it, click again to show it, or type {mask} above."
TEXTS["words.nothing_hidden"] = (
    "Nothing is hidden yet. Click a token above, let the button choose a good one, or type "
    "{mask} in the sentence."
)
TEXTS["words.no_head"] = (
    "This checkpoint has no masked-word (MLM) head, so it cannot predict words; fine-tuned "
    "checkpoints often lost it. Choose a pretrained one such as `default` in the sidebar."
)
TEXTS["words.fill"] = (
    "Each bar is the probability of one piece of the vocabulary; all pieces together make 100%. "
    "The pink bar is the token that was there. Several masks are guessed independently: each is "
    "predicted as if nobody knew the others, so two good words may not fit together."
)
TEXTS["words.in_turn"] = (
    "Filled one after another, the surest first, each seeing those before: {steps}"
)
TEXTS["words.no_candidates"] = (
    "Try words that BERT did not offer: rare ones, wrong ones, or several words at one place."
)
TEXTS["words.candidates"] = (
    "A word that is one piece has the probability of the bars above. A word of several pieces gets "
    "as many masks, and its pieces are guessed one after another from left to right, each with "
    "those before it filled in; the probabilities are multiplied. The blue dot is that product, "
    "the orange ring its mean for each piece: compare rings when words differ in length."
)
TEXTS["words.lens"] = (
    "The word that BERT would say if it stopped after this layer, from the embeddings up to the "
    "last layer; the brighter, the surer. "
    "Mind that the head which turns vectors into words was trained for the last layer only: what "
    "it reads from earlier ones shows how near they are to its language, not what they know. "
    "(Layer 1 is what the attention heads of layer 0 lead to.) At a "
    "token that is not hidden BERT sees the token itself, and mostly repeats it."
)
TEXTS["words.ranks"] = (
    "Rank 1 is the best of the whole vocabulary. Followed are the hidden word, the three winners "
    "at the end, and your own words of one piece."
)
TEXTS["words.surprise"] = (
    "Each token in turn is hidden, alone, and BERT guesses it from all the others. Colour is its "
    "surprise in bits: 0 means it was certain, each bit more halves the probability. Below stands "
    "BERT's own guess, ✓ if it was right. Over the {num_tokens} tokens the pseudo-perplexity is "
    "**{perplexity}**: as if BERT had to choose among so many equally likely pieces each time "
    "(Salazar et al. 2020)."
)
TEXTS["words.scoring"] = "Hiding each token in turn"
TEXTS["words.masking"] = (
    "What BERT would have got of this sentence in training: {chosen} of its {num_tokens} tokens "
    "(\\[CLS\\] and \\[SEP\\] counted, but never chosen) must be predicted. Of these 80% become "
    "\\[MASK\\], 10% a random piece, and 10% stay as they are: since any token may be wrong, BERT "
    "must keep a good idea of all of them. The draw is made by the code that trains our own BERT."
)
CODE["words.fill"] = """
from bertcore.analysis.predictions import predict_masks

found = predict_masks(bert, trace.text_a, trace.text_b, {masked}, {top_k})
found.words, found.probabilities            # [M, k]
"""
CODE["words.candidates"] = """
from bertcore.analysis.candidates import score_candidates

scored = score_candidates(bert, trace.text_a, trace.text_b, {masked}, {position}, {words})
[(c.word, c.pieces, c.probability) for c in scored]
"""
CODE["words.lens"] = """
from bertcore.analysis.lens import layer_predictions

lens = layer_predictions(bert, trace.text_a, trace.text_b, {masked}, {shown}, 5)
lens.words, lens.probabilities              # [L+1, N, k]
"""
CODE["words.ranks"] = """
from bertcore.analysis.lens import word_trajectories

path = word_trajectories(bert, trace.text_a, trace.text_b, {masked}, {position}, {words})
path.ranks                                  # [L+1, W]
"""
CODE["words.surprise"] = """
from bertcore.analysis.surprise import surprise

found = surprise(bert, trace.text_a, trace.text_b)
found.bits, found.pseudo_perplexity
"""
CODE["words.masking"] = """
from bertcore.analysis.corruption import corrupt

drawn = corrupt(bert, trace.text_a, trace.text_b, seed={seed}, masked_lm_prob={share})
drawn.shown, drawn.actions
"""


def shorten(text: str, limit: int = 40) -> str:
    """Return a text of at most `limit` characters for a heading, cut in the middle.

    >>> shorten("abcdefgh", 5)
    'ab...gh'
    """
    return text if len(text) <= limit else f"{text[: limit // 2]}...{text[-(limit // 2) :]}"


def safe_card(markdown: str) -> str:
    """Return a stranger's Markdown with its pictures turned to links, so that nothing is fetched.

    HTML in it is shown as text, because Streamlit's Markdown does not read HTML.

    >>> safe_card("see ![logo](https://x.org/a.png)")
    'see [logo](https://x.org/a.png)'
    """
    return re.sub(r"!+\[", "[", markdown)


# ---- sentence pairs ----
TEXTS["pairs.no_b"] = (
    "A pair needs a second sentence: write it in *Sentence B* above, or take one of these."
)
TEXTS["pairs.no_head"] = (
    "This checkpoint has no next-sentence (NSP) head, so it cannot say whether B follows A. The "
    "attention between the sentences is below; for the score choose a pretrained checkpoint such "
    "as `default` in the sidebar."
)
TEXTS["pairs.family_no_head"] = (
    "{reason} The attention between the sentences is below; for next-sentence scores choose a "
    "pretrained BERT such as `default` in the sidebar."
)
TEXTS["pairs.one_segment"] = (
    "This checkpoint gives all tokens the same segment, or none: only the special tokens between "
    "A and B tell them apart, so there are no segment ids to change."
)
TEXTS["pairs.order"] = (
    "ALBERT was trained to tell two neighbouring pieces of text from the same two exchanged. Both "
    "are about the same topic, so it must look at what follows from what, unlike BERT's "
    "next-sentence head. Swap A and B to ask the other way round."
)
CODE["pairs.order"] = """
bert.sentence_order({a!r}, {b!r}).in_order
"""
TEXTS["words.replaced"] = (
    "This checkpoint is an ELECTRA discriminator: it does not guess hidden words, it tells for "
    "each token whether somebody put it in the place of another. Write a wrong word in a sentence "
    "and see whether its box turns bright."
)
CODE["words.replaced"] = """
bert.replaced_tokens(trace.text_a, trace.text_b)        # [T]
"""
TEXTS["pairs.answer"] = (
    "In training BERT saw pairs of neighbouring text half of the time, and pairs from two "
    "documents otherwise. It learned to ask *is this the same topic?* more than *does this come "
    "next?* The longer it was trained, the more its answers lie near 0% and 100%, where the scale "
    "is pressed together: a small move there is a large one inside."
)
TEXTS["pairs.variants"] = (
    "Each dot is the answer after one change; the mark on each row is the pair as written, the "
    "number behind the percentage the difference in percentage points. If swapping the order "
    "changes little, BERT looks at the topic. The segment ids and the \\[SEP\\] tell it where B "
    "begins: without them it may no longer see two sentences."
)
TEXTS["pairs.mass"] = (
    "Of all the attention that the tokens of one sentence give, the share that goes to the tokens "
    "of the other: the mean of the heads, and from the lowest to the highest head as a band. The "
    "dotted line is what even attention would give. What is missing to 100% stays in the own "
    "sentence or goes to \\[CLS\\] and \\[SEP\\], where heads look when they find nothing."
)
TEXTS["pairs.matrix"] = (
    "Row: sentence A. Column: sentence B. Bright: BERT believes that B follows A. Sentences of one "
    "story form a bright square. If the picture is the same on both sides of the diagonal, the "
    "order does not matter to BERT. The diagonal is empty: no sentence follows itself."
)
TEXTS["pairs.too_few"] = "Write at least two sentences above, one a line."
TEXTS["pairs.too_many"] = (
    "There are {given} sentences; the first {most} are compared, more would not be legible."
)
CODE["pairs.answer"] = """
from bertcore.analysis.pairs import segment_ids

ids = segment_ids(trace, {segments!r})
bert.next_sentence({a!r}, {b!r}, segment_ids=ids).is_next
"""
CODE["pairs.variants"] = """
from bertcore.analysis.pairs import pair_variants

variants = pair_variants(bert, {a!r}, {b!r}, {others!r})
[(v.name, v.is_next) for v in variants]
"""
CODE["pairs.mass"] = """
from bertcore.analysis.pairs import attention_mass, segment_ids

ids = segment_ids(trace, {segments!r})
mass = attention_mass(bert.trace(trace.text_a, trace.text_b, segment_ids=ids))
mass.between("A", "B")                      # [L, H]
"""
CODE["pairs.matrix"] = """
from bertcore.analysis.pairs import next_sentence_matrix

matrix = next_sentence_matrix(bert, {sentences!r})      # [N, N], row A, column B
"""

# ---- minimal pair ----
TEXTS["minimal-pair.same"] = (
    "The two versions are the same, so every difference below is zero. Change a word in *Second "
    "version* above, or take an example."
)
TEXTS["minimal-pair.tokens"] = (
    "What both versions share stands once. What differs is framed, the first version above the "
    "second; ∅ is a token that one of them does not have. Equal tokens are found first; what was "
    "replaced stands in order below what it replaces."
)
TEXTS["minimal-pair.no_answer"] = (
    "BERT has no question to answer here: write \\[MASK\\] at the same place in both versions to "
    "compare its words, or make it a pair to compare the next-sentence answer."
)
TEXTS["minimal-pair.no_head"] = (
    "This checkpoint has no masked-word (MLM) head, so no words can be compared. What differs "
    "inside is below; choose a pretrained checkpoint such as `default` in the sidebar for words."
)
TEXTS["minimal-pair.words"] = (
    "The best words at each \\[MASK\\] in the first version (grey) and the second (blue): the five "
    "best of both. Behind the probabilities stands the difference in percentage points. KL says "
    "how far the whole vocabulary moved: 0 is not at all."
)
TEXTS["minimal-pair.attention"] = (
    "Blue: the row's token looks more at the column's in the second version; orange: less. Rows "
    "and columns of a token that one version lacks are empty; their neighbours' rows then need "
    "not sum to zero. Changed tokens are bold."
)
TEXTS["minimal-pair.heads"] = (
    "How differently each head looks in the two versions: Jensen-Shannon divergence of its rows, 0 "
    "the same, 1 nothing in common. In layer 0 only the queries and keys of changed and moved "
    "tokens differ; above, everything may."
)
TEXTS["minimal-pair.vectors"] = (
    "How much each token's vector differs after each layer, 1 − cosine: layer 0 holds the "
    "embeddings, so there only changed and moved tokens differ. Follow a row down: how far the "
    "change spreads, and which tokens take it up."
)
CODE["minimal-pair.compare"] = """
from bertcore.analysis.minimal_pair import aligned_attention, compare_pair

second = bert.trace({texts})
found = compare_pair(bert, trace, second)
found.columns, found.shifts, found.next_first, found.next_second
found.hidden_change, found.attention_change             # [L+1, N], [L, H]
"""
CODE["minimal-pair.attention"] = """
one, two = aligned_attention(trace, second, found.columns, {layer}, {head})
difference = two - one                                  # [N, N]
"""

# ---- what if ----
TEXTS["what-if.switches"] = (
    "Rows are layers, columns heads, both counted from 0. A head that is off hands on nothing; its "
    "layer goes on with the others. A skipped layer hands on its input as it came."
)
TEXTS["what-if.bidirectional"] = "Every token may look at every token, as BERT was trained."
TEXTS["what-if.causal"] = (
    "Each token sees itself and those before it, as GPT. BERT never learned to work so, and "
    "\\[CLS\\] sees itself alone: the next-sentence answer is the same for every text."
)
TEXTS["what-if.prefix"] = (
    "The tokens of the prefix see each other; each later one sees the prefix and what stands "
    "before it, as UniLM's sequence-to-sequence mode."
)
TEXTS["what-if.drawn"] = (
    "A filled cell: the token of the row may look at that of the column, in every head."
)
TEXTS["what-if.unchanged"] = (
    "Nothing is changed yet, so before and after are the same. Click a head on the left, or choose "
    "another pattern."
)
TEXTS["what-if.no_answer"] = (
    "Nothing is hidden and there is no pair, so BERT has no question to answer. Click a token "
    "above to hide it. Below is what changes inside."
)
TEXTS["what-if.no_head"] = (
    "This checkpoint has no masked-word (MLM) head, so no words can be compared. What changes "
    "inside is below; choose a pretrained checkpoint such as `default` in the sidebar for words."
)
TEXTS["what-if.words"] = (
    "The best words before (grey) and after (blue) at each \\[MASK\\]: the five best of both runs. "
    "Behind the probabilities stands the difference in percentage points. KL says how far the "
    "whole vocabulary moved: 0 is not at all."
)
TEXTS["what-if.hidden"] = (
    "How much the tokens' vectors turned after each layer: the mean as a bar, the token that "
    "turned most as a line. 0: the same direction. Nothing below the lowest change can move."
)
TEXTS["what-if.attention"] = (
    "How differently each head looks, because what it sees has changed: Jensen-Shannon divergence "
    "of its rows, 0 the same, 1 nothing in common. Crosses are heads that are off: their attention "
    "is computed, but goes nowhere."
)
TEXTS["what-if.rank"] = (
    "Every head is removed alone, with all other changes in force, and the answer is compared. "
    "A head of small effect is not useless: others may do the same work, and another sentence may "
    "need it. The effects of several heads do not add up."
)
TEXTS["what-if.rank_word"] = (
    "Change of ln p of **{word}** at token {position} without the head. Orange, below 0: the head "
    "helps this word. Blue: it speaks for others."
)
TEXTS["what-if.rank_divergence"] = (
    "How far the words at token {position} move without the head: KL, in nats."
)
TEXTS["what-if.rank_next_sentence"] = "Change of the probability that B follows A without the head."
TEXTS["what-if.rank_hidden"] = (
    "How much the last layer's vectors turn without the head: the mean of 1 − cosine."
)
TEXTS["what-if.rank_old"] = (
    "This ranking was made with other changes in force than those above. Rank again to renew it."
)
TEXTS["what-if.save"] = (
    "Writes a checkpoint in which the heads that are off hand on zeros for good. It opens here and "
    "in transformers, in its old shape: no smaller and no faster. Only heads are removed; skipped "
    "layers, patterns and edits belong to the run, not to the weights."
)
CODE["what-if.runs"] = """
from bertcore.analysis.before_after import compare_runs
from bertcore.analysis.inputs import masked_encoding
from bertcore.what_if import Changes

encoding = masked_encoding(bert, trace.text_a, trace.text_b, {masked})
changes = {changes}
before = bert.trace(trace.text_a, trace.text_b, encoding=encoding)
after = bert.trace(trace.text_a, trace.text_b, encoding=encoding, changes=changes)
found = compare_runs(bert, before, after)
"""
CODE["what-if.rank"] = """
from bertcore.analysis.head_importance import rank_heads
from bertcore.analysis.inputs import masked_encoding
from bertcore.what_if import Changes

encoding = masked_encoding(bert, trace.text_a, trace.text_b, {masked})
changes = {changes}
found = rank_heads(bert, encoding, changes=changes, position={position}, word={word!r})
found.strongest({measure!r})
"""

# ---- training ----
TEXTS["training.folder"] = (
    "Each run is a folder in it. `bertscope pretrain --out` writes such folders too: give the one "
    "that they are in."
)
TEXTS["training.no_runs"] = (
    "There is no run in {folder} yet. Choose *Start a run*, or the folder of your own runs above."
)
TEXTS["training.novel"] = (
    "{title}, in the public domain: 121,000 words. Enough to watch a model learn, far too little "
    "for one that knows English."
)
TEXTS["training.form_of_text"] = (
    "UTF-8 text (.txt, or packed as .xz or .gz): a paragraph a line and a blank line between "
    "documents. Sentence pairs need several documents."
)
TEXTS["training.forbidden"] = (
    "This server starts no runs from the browser. They can be watched here; `bertscope pretrain` "
    "starts them in a terminal."
)
TEXTS["training.starts"] = (
    "Word counts: the first vectors say which words stand beside each other in the text, which "
    "saves the slow first part. Noise: BERT's own start. A checkpoint: goes on from its weights."
)
TEXTS["training.from_checkpoint"] = (
    "It brings its own layers, width and word pieces. A copy is kept in the run."
)
TEXTS["training.objectives"] = (
    "Words and pairs: masked words and next sentences, from pairs of text, as BERT. Words alone: "
    "masked words from rows packed full of running text, as RoBERTa; there is no pair score then."
)
TEXTS["training.preparing"] = (
    "It learns the vocabulary and reads the text first; training begins when that is done. You may "
    "leave this page: the run goes on by itself."
)
TEXTS["training.held_out"] = "on held-out text at the last time that the run was scored."
TEXTS["training.healthy"] = "The coach sees nothing wrong with this run."
TEXTS["training.curves"] = (
    "Blue: the text it learns from, one batch each, so it jumps. Orange: held-out text, which it "
    "never learns from; believe this one. A loss of ln V means pure guessing{unigrams}. If orange "
    "rises while blue falls, it learns by heart."
)
TEXTS["training.curves.unigrams"] = (
    "; at the dashed line the model knows how frequent words are and nothing else"
)
TEXTS["training.moments"] = (
    "A saved moment is a whole checkpoint. Open it here for all other pages, or open two moments "
    "in two tabs and compare them side by side."
)
TEXTS["training.no_probes"] = (
    "This run has no probes yet. They are taken at its start and with each held-out score; runs "
    "of older versions have none."
)
TEXTS["training.replay"] = (
    "Press Play, or move the slider: all four pictures follow. *Attention*: rows look, columns are "
    "looked at; brighter is more, and the colours mean the same at every step. *Map*: each point "
    "is a word in its sentence, large for this one; its path is the grey trail. The axes are the "
    "last moment's own (they show {explained} of what differs there), so that a place means the "
    "same at every step. *Guesses*: the best five for the hidden word, pink if right. *Answers*: "
    "how probable the hidden word is{pairs}."
)
TEXTS["training.replay.pairs"] = (
    ", and that B follows A; the first pair belongs together and the second does not"
)
TEXTS["training.heads"] = (
    "A row for each attention head. Bright: it looks at all tokens alike, as most heads do at the "
    "start. Dark: at one token. A head forms where its row turns dark."
)
CODE["training.curves"] = """
import pandas as pd

table = pd.read_json({path!r}, lines=True)
table[{columns!r}]
"""
CODE["training.replay"] = """
from pathlib import Path
from bertcore.analysis.probe_map import probe_map
from bertcore.analysis.probes import read_probes

probes = read_probes(Path({path!r}))
[probe.sentences[{sentence}].attention[{layer}, {head}] for probe in probes]    # each [T, T]
probe_map(probes).coordinates                                        # [S, P, 2]
"""
CODE["training.heads"] = """
from pathlib import Path
from bertcore.analysis.head_history import head_history
from bertcore.analysis.probes import read_probes

head_history(read_probes(Path({path!r}))).spread                     # [S, L, H]
"""

# ---- mixing ----
TEXTS["mixing.token"] = (
    "Each strip answers the same question in another way; the framed column is the token itself. "
    "Colour is the share of the strip's sum (its square root, so that small shares are seen), the "
    "numbers are percent of the three largest. The upper strips are about one layer, the lower "
    "ones about the way from the words themselves up to this layer. Where they disagree, the "
    "weights alone would mislead. None of them says why BERT decides as it does."
)
TEXTS["mixing.all"] = (
    "One map for each measure: each row is a token that receives, each column one that gives, and "
    "a row sums to 100%. Drag a rectangle in one map to zoom into all, double click to come back. "
    "A bright diagonal means that tokens mostly keep what they have. In the map of the gradient, "
    "rows that do not matter for the chosen output are empty."
)
_MEASURES = (
    ("Measure", "Formula", "What it does not see"),
    ("---", "---", "---"),
    (
        "Attention weights",
        "α = softmax(q·k / √K), mean of the heads",
        "how long the vector is that a weight multiplies",
    ),
    (
        "Norm-weighted",
        "‖Σ α f(x)‖ over the heads, with f(x) = (x W_V + b_V) W_O (Kobayashi et al. 2020)",
        "what the token keeps of itself",
    ),
    (
        "… residual, LayerNorm",
        "the same with the residual connection, through LayerNorm (Kobayashi et al. 2021)",
        "the feed-forward block",
    ),
    (
        "Value zeroing",
        "1 − cos(y, y with the other token's value 0), y the layer's output (Mohebbi et al. 2023)",
        "later layers; two tokens that stand in for each other",
    ),
    (
        "Gradient × attention",
        "size of α · ∂ output / ∂α, mean of the heads (as in Barkan et al. 2021, with both signs)",
        "large changes: it is a slope at one point, for one output",
    ),
    (
        "Rollout",
        "product of ½ I + ½ A over the layers (Abnar and Zuidema 2020)",
        "values and feed-forward; it takes all heads for equally strong",
    ),
    (
        "Flow",
        "maximum flow with the same ½ I + ½ A as capacities (Abnar and Zuidema 2020)",
        "the same; the narrowest place decides, so through many layers all rows grow alike",
    ),
    (
        "Value zeroing rolled out",
        "product of the layers' value zeroing (Mohebbi et al. 2023)",
        "what a token keeps by the residual connection alone; that effects need not multiply",
    ),
)
TEXTS["mixing.measures"] = "\n".join(f"| {' | '.join(row)} |" for row in _MEASURES) + (
    "\n\nAttention is not explanation: a token may be read and change nothing, and it may matter "
    "in a way that no measure here follows. To test a cause, change the text or switch heads off."
)
TEXTS["mixing.head_help"] = (
    "One head: weights, norms and gradient of this head, rollout and flow through the head of this "
    "number in each layer. Value zeroing, and the strip with residual and LayerNorm, always have "
    "all heads together."
)
TEXTS["mixing.others"] = (
    "What a token keeps of itself is large in measures that know the residual connection and left "
    "out in others. Without it, each row is what comes from the other tokens."
)
TEXTS["mixing.too_long"] = (
    "Flow and rolled-out value zeroing are left out: they are computed for at most {most} tokens, "
    "and this text has {given}. Their cost grows with the fourth and the third power."
)
TEXTS["mixing.no_target"] = (
    "Gradient × attention is left out: this checkpoint has neither a masked-word head nor, for a "
    "pair, a next-sentence head, so there is no output to take it of."
)
TEXTS["mixing.no_gradient"] = (
    "The strip of the gradient is empty: nothing that this token receives in this layer reaches "
    "the chosen output. Next sentence is read off \\[CLS\\] alone."
)
TEXTS["mixing.agreement"] = (
    "Spearman's rank correlation between each two strips above (over all rows, if every token is "
    "shown): 1 means the same order of tokens, 0 none in common, below 0 rather the opposite."
)
TEXTS["mixing.separator"] = (
    "Heads that have nothing to do look at \\[SEP\\]: its weight is large, but the vector sent "
    "from it is short. The lower the other lines are, the less these weights move. Dots are "
    "heads. Of what a token is after attention, others gave (mixing ratio, layer by layer): "
    "{ratios}."
)
CODE["mixing.strips"] = """
from bertcore.analysis.attention_gradients import NextSentenceLogit, attention_gradients, best_word
from bertcore.analysis.flow import attention_flow
from bertcore.analysis.maps import row_shares
from bertcore.analysis.norm_weighted import block_norms, weighted_norms
from bertcore.analysis.rollout import attention_rollout, rollout
from bertcore.analysis.value_zeroing import value_zeroing

layer, head, token = {layer}, {head}, {token}
gradients = attention_gradients(bert, trace, {target})
zeroing = row_shares(value_zeroing(bert, trace))
maps = {{
    "weights": trace.attentions[layer].{heads},
    "norms": {norms},
    "block": block_norms(bert, trace).normalized[layer],
    "zeroing": zeroing[layer],
    "gradient": gradients.product(layer).abs().{heads},
    "rollout": attention_rollout(trace.attentions, head=head)[layer],
    "flow": attention_flow(trace.attentions[: layer + 1], head=head).values,
    "zeroing_rollout": rollout(zeroing)[layer],
}}
shares = {{name: row_shares(values.float()) for name, values in maps.items()}}   # [T, T] each
row = {{name: values[token] for name, values in shares.items()}}
"""
CODE["mixing.separator"] = """
from bertcore.analysis.maps import share_on
from bertcore.analysis.norm_weighted import block_norms, weighted_norms

separators = [i for i, text in enumerate(trace.text_ids) if text < 0][1:]
blocks = block_norms(bert, trace)
share_on(trace.attentions, separators)              # [L, H]
share_on(weighted_norms(bert, trace), separators)   # [L, H]
share_on(blocks.normalized, separators)             # [L]
blocks.mixing_ratio.mean(-1)                        # [L]
"""

# ---- heads ----
TEXTS["heads.no_pasted"] = (
    "Paste some sentences above, one a line. Some dozens make the intervals narrow."
)
TEXTS["heads.no_file"] = (
    "Upload a text or CSV file above, of at most 10,000 sentences (2,000 rows of a table), or "
    "sentences with their trees in CoNLL-U, as Universal Dependencies has them for 150 languages."
)
TEXTS["heads.stopped"] = "Stopped. Nothing was measured."
TEXTS["heads.cut"] = "{count} sentences have more tokens than this checkpoint reads; they were cut."
TEXTS["heads.open"] = "**Layer {layer} head {head}**, {measure}: {value}."
TEXTS["heads.open_example"] = " [Look at it on the Attention page]({link}): {example}"
TEXTS["heads.grid"] = (
    "Each cell is a head; its number is the mean over {sentences} sentences (for a relation: how "
    "often it is right), in per cent where it is a share. Click a cell, or choose a head below, to "
    "open it. The bars show all habits of the open head. Their thin ends are 95% intervals: of "
    "1,000 draws of as many sentences, 950 have a mean within. The orange marks are a head that "
    "looks at all tokens alike, which has no habit at all. Shares may overlap: a full stop before "
    "\\[SEP\\] is both the token before and punctuation."
)
TEXTS["heads.habits"] = (
    "For each habit the head that has most of it. Heads are written layer.head; a click opens the "
    "head on the Attention page, in a new tab, with the sentence beside it. *All alike* is what "
    "a head without any habit would have; the mean is in bold from 15% of what is possible "
    "beyond that, else no head has this habit. The last row is about evenness, 100% if every "
    "token gets the same. The same word means other places of the same piece. Clark et al. 2019 "
    "found such heads in BERT."
)
TEXTS["heads.relations"] = (
    "Each head is taken for a parser: the word it looks at most, itself, \\[CLS\\] and "
    "\\[SEP\\] left out, is its answer. *Right* is how often that is the word at the other end of "
    "the relation (Clark et al. 2019, section 4), measured on {trees} sentences{whose} The honest "
    "rival is the *fixed offset*: always answering the word so many places before (−) or after "
    "(+). A head that only equals it knows a place, not grammar; in bold are those whose interval "
    "lies above. The best of many heads is partly "
    "luck: on other sentences expect a little less, and believe wide intervals little."
)
TEXTS["heads.own_trees"] = (
    " of our own, short and simple ones; upload trees (.conllu) for a real test."
)
TEXTS["heads.left_out"] = (
    "{count} arcs are left out: a word was cut off, or shares its only piece with another."
)
TEXTS["heads.no_rows"] = "No relation has so many cases. Switch the rare ones on."
TEXTS["heads.map"] = (
    "Each point is a head; two near points give their attention to the same tokens. The distance "
    "between two heads is the Jensen-Shannon distance of their weights, 0 to 1, averaged over "
    "{compared} tokens, laid out in 2-D by multidimensional scaling. Only distance means "
    "something, not left or right. Stress {stress}: 0 would be a map without error, above 0.2 "
    "single distances are not to be trusted. A habit is called a head's strongest if the head has "
    "at least 15% of what is possible beyond a head that looks at all tokens alike."
)
CODE["heads.report"] = """
from pathlib import Path
from bertcore.analysis.head_report import report_heads
from bertcore.analysis.head_texts import (
    bundled_sentences, bundled_trees, read_pasted_texts, read_texts,
)

{chosen}report = report_heads(bert, texts, trees)
"""
CODE["heads.habits"] = """
layer, head = report.statistics.best("to_previous")
report.statistics.of("to_previous")     # mean, low, high: each [L, H]
"""
CODE["heads.relations"] = """
best = report.scores.best("obj", "to_dependent")
best.layer, best.head, best.accuracy, best.baseline
"""
CODE["heads.map"] = """
from bertcore.analysis.head_similarity import head_map

report.distances.matrix                     # [L * H, L * H]
head_map(report.distances).positions        # [L * H, 2]
"""
