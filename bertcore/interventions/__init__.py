"""Changes inside the network: disabled heads and layers, attention patterns, edited states."""
