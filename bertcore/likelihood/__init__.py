"""Log-probabilities of tokens: at hidden positions, and given the tokens before."""

__all__ = ["hidden_tokens", "next_tokens"]
