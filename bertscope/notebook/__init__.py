"""BertScope's views in a notebook, and as files: what the app shows, without the app.

Each function returns a `NotebookView`: the last line of a cell shows it, and `save` writes it as an
HTML file that needs no network.

    import bertcore
    from bertscope.notebook import show_lines

    bert = bertcore.load("default")
    trace = bert.trace("The river bank was steep.", "It had rained.")
    show_lines(trace, layer=2, heads=[0, 3], bert=bert)
"""

from bertcore.base.public import imported
from bertscope.notebook.attention_views import (
    show_bertviz,
    show_lines,
    show_map,
    show_neurons,
    show_overview,
)
from bertscope.notebook.heads import show_heads
from bertscope.notebook.minimal_pair import show_minimal_pair
from bertscope.notebook.notebook_view import NotebookView
from bertscope.notebook.what_if import show_ranking, show_what_if

__all__ = imported(globals())
