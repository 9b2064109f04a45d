"""Readers of files: texts, tables, tagged sentences, treebanks, questions, and their labels."""

__all__ = (
    "cells columnar columns conllu corpus dialects encodings examples exports files guess "
    "json_tables labels packed_files questions read_rows read_tags "
    "rows sentence_list sentences tables tag_schemes texts_file "
    "usual_columns"
).split()
