"""The commands of `bertscope`, a file for each or for a few of one kind."""
