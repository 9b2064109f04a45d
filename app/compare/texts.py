"""What the app says on the page: Compare."""

from __future__ import annotations

TEXTS: dict[str, str] = {}
CODE: dict[str, str] = {}

TEXTS["compare.help"] = (
    "Pick one, or type the path of a folder or the id of a model on the Hugging Face hub. The "
    "sidebar's checkpoint is the first of the two, unless it is compared with what it was "
    "fine-tuned from: then before comes before after."
)
TEXTS["compare.untrained"] = (
    "**untrained** has the shape and the vocabulary of {first} and random weights, so this is what "
    "training made of noise. Choose a checkpoint of your own above: `bertscope finetune` makes "
    "one, and so does a run on the Training page."
)
TEXTS["compare.began_with"] = (
    "{second} was fine-tuned from {first}, so {first} is the first of the two: every change below "
    "is what fine-tuning changed."
)
TEXTS["compare.same"] = (
    "Both hold the same weights (fingerprint {fingerprint}), so every difference below is zero; "
    "only a classifier's own layer, which is no part of the fingerprint, may differ."
)
TEXTS["compare.not_finite"] = (
    "NaN or infinity is in {count}: {names}. Such a drift is not a number and its cell is empty."
)
TEXTS["compare.hub"] = (
    "This link compares with **{source}**, which is not on this machine. It would be fetched from "
    "the Hugging Face hub. Nothing is fetched unless you say so; or choose another one above."
)
TEXTS["compare.moments_folder"] = (
    "A folder of pretraining runs, or of fine-tunings that were made with --keep-epochs, on the "
    "machine on which BertScope runs."
)
TEXTS["compare.moments_none"] = (
    "No run in this folder has two saved moments. The Training page starts runs and says where; "
    "`bertscope finetune --keep-epochs` keeps the checkpoint of each epoch."
)
TEXTS["compare.no_question"] = (
    "Neither checkpoint has a question to answer on this text. Write \\[MASK\\] in it to compare "
    "words, or make it a pair to compare the next-sentence answer."
)
TEXTS["compare.answers"] = (
    "Grey is {first}, blue {second}; behind the bars stand both probabilities and the difference "
    "in percentage points."
)
TEXTS["compare.score_answers"] = (
    "Grey is {first}, blue {second}: the number that the head gives, and behind the bars both "
    "numbers and the difference."
)
TEXTS["compare.span_answers"] = (
    "Grey is {first}, blue {second}: where the answer begins or ends, as a token with its place in "
    "the text in brackets. Behind the bars stand both probabilities and the difference in "
    "percentage points."
)
TEXTS["compare.borrowed"] = (
    "**{borrower} has no head for this question.** Its encoder is read here with the head of "
    "{owner}: what that head would say if only the encoder were different. So the difference is "
    "what the encoder learned."
)
TEXTS["compare.tags"] = (
    "A tagger learns the tag of a word at its first piece. What it says of pieces that continue a "
    "word (##) is not used."
)
TEXTS["compare.other_answers"] = (
    "The two choose from different answers, so bars are drawn beside each other only where the "
    "names agree."
)
TEXTS["compare.needs_b"] = (
    "{name} was fine-tuned on pairs, and here is one text alone: its answer means little. Write "
    "the second text (for a question: the text to look in) as sentence B."
)
TEXTS["compare.numbered"] = (
    "Both call their labels by numbers alone. Bars with one number stand beside each other, but "
    "only whoever trained the two knows whether it means the same in both."
)
TEXTS["compare.layers_read"] = (
    "The head reads every layer's vectors, as if the network ended there. It was trained on the "
    "last layer alone, so an early curve says how near the vectors are to the answer in the head's "
    "terms, not what the layer thinks. A ring marks where a decision settles: from there on it is "
    "the final one."
)
TEXTS["compare.score_layers_read"] = (
    "The head reads every layer's vectors, as if the network ended there. It was trained on the "
    "last layer alone, so an early curve says how near the vectors are to the score in the head's "
    "terms, not what the layer thinks."
)
TEXTS["compare.gradients"] = (
    "Gradient × input of the {unit}: bars above zero {up}, below {down}. "
    "Each checkpoint's bars are divided by the sum of their sizes, since the two differ in how "
    "sure they are. It is a first-order estimate, not a proof of cause. The lower bars are the "
    "second minus the first."
)
TEXTS["compare.words"] = (
    "The two cut this text differently, so words are compared: vectors as the mean over a word's "
    "pieces, attention and shares as their sum."
)
TEXTS["compare.heads"] = (
    "How differently each head looks at this text in the two checkpoints: Jensen-Shannon "
    "divergence of its rows, mean over the tokens; 0 is the same, 1 bit nothing in common. The "
    "cells show hundredths of a bit. Click a cell to see both heads below."
)
TEXTS["compare.heads_texts"] = (
    "The same as in the view *Heads*, mean over {sentences} texts: what one sentence shows by "
    "chance evens out. Click a cell to see that head on the text above."
)
TEXTS["compare.no_heads"] = (
    "The two have different numbers of layers or heads, so no head of one is the head of the "
    "other. *Layers over many texts* compares their layers all the same."
)
TEXTS["compare.weights"] = (
    "How far each matrix, with its bias, moved from the first to the second. Relative change: "
    "length of the difference by length of the first (Frobenius norm); 10% is a tenth of its "
    "length. 1 − cosine: how far its direction turned, whatever its length. Fine-tuning "
    "moves the matrices of a small BERT by about 5 to 20%; between unrelated networks the change "
    "is over 100% and 1 − cosine near 1."
)
TEXTS["compare.missing"] = "Only {name} has: {parts}."
TEXTS["compare.shapes"] = (
    "Not compared, since their shapes differ: {count}, such as {example} ({first} and {second})."
)
TEXTS["compare.no_weights"] = (
    "No layer has matrices of the same shape in both, so no drift can be drawn."
)
TEXTS["compare.cka"] = (
    "Linear CKA of the vectors of {examples} {what}: 1 says that both layers place them in the "
    "same geometry, up to rotation and scale; 0 that they have nothing in common. The cells "
    "show hundredths. A bright diagonal that fades to the right end: training changed the last "
    "layers most."
)
TEXTS["compare.few"] = (
    "Only {examples} {what} for vectors of {width} numbers: plain CKA is too high with so few. "
    "Trust the debiased estimate, or give more text."
)
TEXTS["compare.changed"] = (
    "The texts on which both differ most. Distance: half the sum of all differences of "
    "probability, 0 the same, 1 nothing in common."
)
TEXTS["compare.stopped"] = "The comparison was stopped."

CODE["compare.text"] = """
from bertcore.analysis.compare.checkpoints import compare_text, questions, with_mask_of
from bertcore.analysis.compare.decision import Decisions, open_decisions, pretraining_decisions

asked = questions(
    first, second, ({first}, {second})
)
texts = [{written}]
traces = tuple(b.trace(*(with_mask_of(b, t) for t in texts)) for b in (first, second))
found = compare_text(first, second, traces, asked)
found.divergence                                        # [L, H], bits
for question, one, two in found.answers:
    print(question.kind, one and one.final, two and two.final)
"""
CODE["compare.question"] = """
question, one, two = next(a for a in found.answers if a[0].kind == {kind!r})
one and one.probabilities[:, {place_1}], two and two.probabilities[:, {place_2}]   # [L+1, C]
"""
CODE["compare.gradients"] = """
from bertcore.analysis.compare.checkpoints import compare_gradients

both = compare_gradients(first, second, traces, question, {answers}, {places})
shares = [part and part.shares() for part in both]      # [T] each
"""
CODE["compare.weights"] = """
from bertcore.analysis.compare.weight_drift import weight_drift

drift = weight_drift(first, second)
drift.layers, drift.others, drift.tensors
"""
CODE["compare.texts"] = """
from pathlib import Path

from bertcore.analysis.compare.texts import compare_texts
from bertcore.analysis.heads.texts import (
    bundled_sentences,
    bundled_trees,
    read_pasted_texts,
    read_texts,
)

{chosen}many = compare_texts(first, second, texts.sentences, asked)
many.similarity.plain, many.similarity.debiased         # [L+1, L+1]
many.divergence, many.answers
"""
TEXTS["compare.no_untrained"] = (
    "So no untrained network can be made of this architecture: choose a second checkpoint above."
)
