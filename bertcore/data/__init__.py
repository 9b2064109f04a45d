"""Readers of files: texts, tables, tagged sentences, questions, and their labels."""
