"""How a view is drawn on a page: its picture, caption, downloads, and why it is missing."""
