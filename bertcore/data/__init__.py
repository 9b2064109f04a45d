"""Readers of files: texts, tables, tagged sentences, treebanks, questions, and their labels."""

from typing import TYPE_CHECKING

from bertcore.base.public import deferred

if TYPE_CHECKING:
    from bertcore.data.texts import Sentence, read_sentence_list, read_upload
else:
    __getattr__, __dir__, __all__ = deferred(__name__, __file__)
