"""The audit of a labelled file: answers by group, and texts with the words for a group swapped."""
