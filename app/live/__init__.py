"""BERT in one HTML file: the network in TypeScript, its weights, and the views that it feeds."""
