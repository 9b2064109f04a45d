"""The neuron view: queries and keys, product by product."""
