"""Readers of files: texts, tables, tagged sentences, treebanks, questions, and their labels."""

__all__ = (
    "columnar conllu corpus dialects encodings examples files guess json_tables label_lists labels "
    "packed_files questions read_choices read_labels read_questions read_spans read_tags "
    "read_texts records rows sentence_list sentences tables tag_schemes tagged_corpus texts_file "
    "usual_columns word_tags"
).split()
