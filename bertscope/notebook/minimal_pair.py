"""Two versions of a text side by side, in a notebook."""

from bertcore import Model, Trace
from bertcore.analysis.heads.attention import check_heads
from bertscope.notebook.notebook_view import NotebookView, app_module, typed
from bertscope.notebook.show import draw_views


def show_minimal_pair(
    bert: Model,
    first: Trace,
    second: Trace,
    *,
    layer: int | None = None,
    head: int | None = None,
    top_k: int = 5,
) -> NotebookView:
    """Show what differs between two versions of a text: words, attention, vectors.

    Args:
        first, second: Two single texts, or two pairs; only their texts are taken.
        layer: Whose attention is compared; the last if not given.
        head: Which; the mean of the layer if not given.
        top_k: Best words of each version at each [MASK] that both have.

    ValueError if one is a pair and the other is not, there is no such layer or head, or the weights
    hold NaN.
    """
    layer = len(first.attentions) - 1 if layer is None else layer
    check_heads(first.attentions, [layer], [] if head is None else [head])
    if (first.text_b is None) != (second.text_b is None):
        raise ValueError(
            "one version is a pair and the other a single text. Give two pairs or two single texts."
        )
    both = None if first.text_b is None else (first.text_b, second.text_b)
    views = app_module("app.minimal_pair.views")
    pair = views.VECTORS.of(bert, first.text_a, second.text_a, both, top_k)
    options = {"sentences_b": both, "top_k": top_k}
    asked = [(views.WORDS, options)] if pair.shifts else []
    if pair.next_first is not None:
        asked.append((views.NEXT_SENTENCE, options))
    asked += [(views.VECTORS, options), (views.HEADS, options)]
    asked.append((views.ATTENTION, {"sentences_b": both, "layer": layer, "head": head}))
    named = {**typed(first), **typed(second, "Second version, ")}
    texts = (first.text_a, second.text_a)
    return draw_views("Minimal pair", bert, [(view, texts, of) for view, of in asked], named)
