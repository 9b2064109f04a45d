"""The frame of every page: state, cache, sidebar, text box, downloads, errors."""
