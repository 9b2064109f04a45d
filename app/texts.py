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
    "training": (
        "Training",
        "Start a small BERT from nothing, watch it learn, and play its training again.",
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
    "for its numbers; click to open it below."
)
TEXTS["attention.lines"] = (
    "Each line goes from a token (left) to a token it looks at (right); colour is the head, "
    "strength the weight. The weights that leave a token in one head sum to 100%, and hidden lines "
    "are not shared out among the others. Numbers beside them are within 0.3 percentage points; "
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
    "documents. The sentence pairs need several documents."
)
TEXTS["training.preparing"] = (
    "It learns the vocabulary and reads the text first; training begins when that is done. You may "
    "leave this page: the run goes on by itself."
)
TEXTS["training.healthy"] = "The coach sees nothing wrong with this run."
TEXTS["training.curves"] = (
    "Blue: the text it learns from, one batch each, so it jumps. Orange: held-out text, which it "
    "never learns from; believe this one. A loss of ln V means pure guessing; at the dashed line "
    "the model knows how frequent words are and nothing else. If orange rises while blue falls, "
    "it learns by heart."
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
    "the first pair belongs together and the second does not."
)
TEXTS["training.heads"] = (
    "A row for each attention head. Bright: it looks at all tokens alike, as most heads do at the "
    "start. Dark: at one token. A head forms where its row turns dark."
)
CODE["training.curves"] = """
import pandas as pd

table = pd.read_json({path!r}, lines=True)
table[["step", "mlm_loss", "valid_mlm_loss", "nsp_accuracy", "valid_nsp_accuracy"]]
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
