"""Text to WordPieces: the fast tokenizer and the training of vocabularies."""

from bertcore.tokenizer.encoding import Encoding, Truncation
from bertcore.tokenizer.tokenizer import Tokenizer
from bertcore.tokenizer.training import SPECIAL_TOKENS, train_vocabulary

__all__ = ["SPECIAL_TOKENS", "Encoding", "Tokenizer", "Truncation", "train_vocabulary"]
