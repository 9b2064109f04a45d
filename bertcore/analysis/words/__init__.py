"""BERT's predictions: masked words, the lens, surprise, next sentences."""

__all__ = [
    "candidates",
    "continuation",
    "epoch_masks",
    "head_steps",
    "leakage",
    "lens",
    "logit_attribution",
    "next_sentence",
    "next_words",
    "predictions",
    "readings",
    "sentence_similarity",
    "surprise",
    "training_example",
    "vocabulary_size",
]
