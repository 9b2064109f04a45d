"""The position of a figure's slider, which moves in the browser, reported to the session."""
