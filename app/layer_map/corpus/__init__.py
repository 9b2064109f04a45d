"""The map of an encoded corpus, a source of the page Layer map."""
