"""A picture with its data and its Python in one HTML file that needs no network."""
