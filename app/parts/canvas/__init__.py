"""The attention views: lines, heat map, overview and neurons, drawn on a canvas."""
