"""Pure functions from numbers to Plotly figures; they never call the model."""
