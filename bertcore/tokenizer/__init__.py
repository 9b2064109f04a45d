"""Text to WordPieces: the fast tokenizer, its explanation, and training a vocabulary; also the
tokenizers of BERT's relatives."""

from bertcore.base.public import imported
from bertcore.tokenizer.encoding import AddedToken, Encoding, Pieces, Template
from bertcore.tokenizer.growth import grow_vocabulary
from bertcore.tokenizer.library import WORD_MARKS, LibraryTokenizer
from bertcore.tokenizer.opening import open_tokenizer, open_wordpiece
from bertcore.tokenizer.tokenizer import MAX_WORD_LENGTH, Tokenizer
from bertcore.tokenizer.training import PREFIX, SPECIAL_TOKENS, train_vocabulary
from bertcore.tokenizer.truncation import Truncation
from bertcore.tokenizer.unigram import Unigram, train_unigram
from bertcore.tokenizer.wordpiece import Piece, WordSteps, explain

__all__ = imported(globals())
