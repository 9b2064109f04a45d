"""BertViz's own views, with our numbers and without network access."""
