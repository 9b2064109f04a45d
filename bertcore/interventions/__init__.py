"""Changes inside the network: heads and layers off, attention patterns, edited states."""
