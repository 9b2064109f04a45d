"""The clickable strip of tokens, a component that several pages use."""
