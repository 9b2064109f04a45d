"""The walk through the network on one text, of the page BERT at a glance and of live files."""
