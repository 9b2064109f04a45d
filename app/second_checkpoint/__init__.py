"""A checkpoint beside the page's: its choice, its opening, and both as the two sides of a page."""
