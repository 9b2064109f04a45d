"""Text to WordPieces: the fast tokenizer, the same explained, and training a vocabulary."""

from bertcore.tokenizer.encoding import AddedToken, Encoding
from bertcore.tokenizer.tokenizer import MAX_WORD_LENGTH, Tokenizer
from bertcore.tokenizer.training import PREFIX, SPECIAL_TOKENS, train_vocabulary
from bertcore.tokenizer.truncation import Truncation
from bertcore.tokenizer.wordpiece import Piece, WordSteps, explain

__all__ = [
    "MAX_WORD_LENGTH",
    "PREFIX",
    "SPECIAL_TOKENS",
    "AddedToken",
    "Encoding",
    "Piece",
    "Tokenizer",
    "Truncation",
    "WordSteps",
    "explain",
    "train_vocabulary",
]
