"""BertScope's attention views in a notebook, and as files: what the app shows, without the app.

Each function returns a `NotebookView`: the last line of a cell shows it, and `save` writes it as an
HTML file that needs no network. `bertscope.show` draws all other views by their names.

    import bertcore
    from bertscope.notebook import show_lines

    bert = bertcore.load("default")
    trace = bert.trace("The river bank was steep.", "It had rained.")
    show_lines(trace, layer=2, heads=[0, 3], bert=bert)
"""

from typing import TYPE_CHECKING

from bertcore.base.public import deferred

if TYPE_CHECKING:
    from bertscope.notebook.attention_views import (
        show_bertviz,
        show_lines,
        show_map,
        show_neurons,
        show_overview,
    )
    from bertscope.notebook.notebook_view import NotebookView
else:
    __getattr__, __dir__, __all__ = deferred(__name__, __file__)
