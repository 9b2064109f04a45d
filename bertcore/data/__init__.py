"""Readers of files: texts, tables, tagged sentences, questions, and their labels."""

__all__ = (
    "conllu examples files guess labels packed_files questions read_choices read_labels "
    "read_questions read_tags read_texts rows tables"
).split()
