"""Text to WordPieces: the fast tokenizer, its explanation, and training a vocabulary; also the
tokenizers of BERT's relatives."""

from bertcore.base.public import imported
from bertcore.model.tokenizer.encoding import AddedToken, Encoding, Pieces, Template
from bertcore.model.tokenizer.growth import grow_vocabulary
from bertcore.model.tokenizer.library import WORD_MARKS, LibraryTokenizer
from bertcore.model.tokenizer.opening import open_tokenizer, open_wordpiece
from bertcore.model.tokenizer.tokenizer import MAX_WORD_LENGTH, Tokenizer
from bertcore.model.tokenizer.training import PREFIX, SPECIAL_TOKENS, train_vocabulary
from bertcore.model.tokenizer.truncation import Truncation
from bertcore.model.tokenizer.unigram import Unigram, train_unigram
from bertcore.model.tokenizer.wordpiece import Piece, WordSteps, explain

__all__ = imported(globals())
