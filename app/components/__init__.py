"""Our own browser components; each is a .py, a .js and a .css of one name."""
