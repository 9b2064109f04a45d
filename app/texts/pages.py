"""The pages' titles."""

from __future__ import annotations

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
    "compare": (
        "Compare",
        "Two checkpoints on the same text: what fine-tuning changed, or a run between two moments.",
    ),
    "layer-map": (
        "Layer map",
        "The same words as points, layer by layer: watch meanings move together and apart.",
    ),
    "checkpoints": (
        "Checkpoints",
        "Open a BERT of your own, and see what is inside and whether all of it was read.",
    ),
    "inspect": (
        "Inspect",
        "What a fine-tuned checkpoint answers, why, what would change its mind, where it fails.",
    ),
    "training": (
        "Training",
        "Start a small BERT, watch it learn, and play its training again.",
    ),
}
"""Title and purpose of each page, by its name in the address."""
