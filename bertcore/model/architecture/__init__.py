"""The shape of a network, and the names that each member of the BERT family gives its parts."""
