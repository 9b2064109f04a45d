"""Plotly parts that several pages use: numbers in, figures out."""
