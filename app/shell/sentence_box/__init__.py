"""Where visitors type: the boxes for sentence A and B, examples for them, a box for many lines."""
