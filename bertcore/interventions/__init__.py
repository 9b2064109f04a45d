"""Changes inside the network: disabled heads and layers, attention patterns, edited states."""

__all__ = ["attention_patterns", "hooks", "what_if"]
