"""What BERT says: masked words, the lens, surprise, next sentences."""
