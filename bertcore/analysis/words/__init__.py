"""BERT's predictions: masked words, the lens, surprise, next sentences."""

from bertcore.base.moved import moved

__all__ = (
    "candidates continuation epoch_masks example_version head_steps leakage lens "
    "logit_attribution mask_writing masking_demo next_sentence next_words predictions readings "
    "sentence_similarity surprise training_example vocabulary_size written"
).split()

__getattr__ = moved(
    __name__,
    masking_demo="epoch_masks",
    example_version="training_example",
    written="continuation",
    mask_writing="continuation",
)
