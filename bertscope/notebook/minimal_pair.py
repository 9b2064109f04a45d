"""Two versions of a text side by side, in a notebook."""

from bertcore import Model, Trace
from bertcore.analysis.compare.minimal_pair import aligned_attention, compare_pair
from bertcore.analysis.heads.attention import check_heads
from bertscope.notebook.notebook_view import (
    Drawn,
    NotebookView,
    app_module,
    how_to_read,
    opening,
    show_figures,
    typed,
)

_ANSWERS, _INSIDE = "app.minimal_pair.answers", "app.minimal_pair.inside"


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
        first, second: Two single texts, or two pairs.
        layer: Whose attention is compared; the last if not given.
        head: Which; the mean of the layer if not given.
        top_k: Best words of each version at each [MASK] that both have.

    ValueError if one is a pair and the other is not, there is no such layer or head, or the weights
    hold NaN.
    """
    layer = len(first.attentions) - 1 if layer is None else layer
    check_heads(first.attentions, [layer], [] if head is None else [head])
    comparison = compare_pair(bert, first, second, top_k)
    compared, shared = app_module("app.minimal_pair.compared"), app_module("app.plots.before_after")
    drawn = []
    if comparison.shifts:
        mask, unknown = bert.tokenizer.mask_token or "", [None] * len(comparison.shifts)
        fig = shared.word_bars(comparison.shifts, unknown, compared.RUNS, mask)
        drawn.append(Drawn("Words", fig, how_to_read(bert, _ANSWERS, "WORDS")))
    if comparison.next_first is not None and comparison.next_second is not None:
        is_next = (comparison.next_first.is_next, comparison.next_second.is_next)
        fig = shared.next_bars(is_next, compared.RUNS)
        how = how_to_read(bert, _ANSWERS, "NEXT_SENTENCE")
        drawn.append(Drawn("Next sentence", fig, how))
    inside = app_module(_INSIDE)
    texts = compared.written((second.text_a, second.text_b))
    versions = compared.ComparedRuns(first, second, comparison, texts)
    every = list(range(len(comparison.columns)))
    maps = aligned_attention(first, second, comparison.columns, layer, head)
    weights = inside.Attention(versions, *(each.numpy() for each in maps))
    fig = inside.ATTENTION.figure(weights, drawn=every, is_dark=False)
    where = f"layer {layer}, " + ("the mean of its heads" if head is None else f"head {head}")
    how = how_to_read(bert, _INSIDE, "ATTENTION")
    drawn.append(Drawn(f"What each token attends to: {where}", fig, how))
    fig = shared.attention_grid(comparison.attention_change)
    how = how_to_read(bert, _INSIDE, "HEADS")
    drawn.append(Drawn("Which heads differ most", fig, how))
    fig = inside.VECTORS.figure(versions, drawn=every)
    how = how_to_read(bert, _INSIDE, "VECTORS")
    drawn.append(Drawn("How each token's vector differs", fig, how))
    code = inside.ATTENTION.code.format(texts=texts, layer=layer, head=head)
    code = opening(bert, [*typed(first).values()]) + code
    both = {**typed(first), **typed(second, "Second version, ")}
    return show_figures("Minimal pair", drawn, bert, both, code)
