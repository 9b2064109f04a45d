"""BertViz's own views, with our numbers and without a network."""
