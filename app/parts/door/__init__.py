"""The door: a text with gaps, the guesses for them, and ways into the app, as one component."""
