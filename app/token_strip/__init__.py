"""The strip of tokens that is clicked, a component of several pages."""
