"""BERT's predictions: masked words, the lens, surprise, next sentences."""

__all__ = (
    "candidates continuation epoch_masks example_version head_steps leakage lens "
    "logit_attribution mask_writing masking_demo next_sentence next_words predictions readings "
    "sentence_similarity surprise training_example vocabulary_size written"
).split()
