"""Readers of files: texts, tables, tagged sentences, treebanks, questions, and their labels."""

from typing import TYPE_CHECKING

from bertcore.base.public import deferred

if TYPE_CHECKING:
    from bertcore.data.sentence_list import read_sentence_list
    from bertcore.data.texts_file import Sentence, read_upload
else:
    __getattr__, __dir__, __all__ = deferred(__name__, __file__)
