"""BERT's predictions: masked words, the lens, surprise, next sentences."""
