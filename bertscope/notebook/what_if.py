"""The effect of changes, and the importance of heads, in a notebook."""

from collections.abc import Sequence

from bertcore import Model, Trace
from bertcore.analysis.heads.importance import rank_heads
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.interventions import Changes
from bertcore.tasks.model import read_task_head
from bertscope.notebook.notebook_view import (
    Drawn,
    NotebookView,
    app_module,
    how_to_read,
    opening,
    show_figures,
    typed,
)
from bertscope.notebook.show import draw_views


def show_what_if(
    bert: Model, trace: Trace, changes: Changes, *, masked: Sequence[int] = (), top_k: int = 5
) -> NotebookView:
    """Run a text with changes, and show what BERT answers before and after.

    Args:
        trace: One text or pair through it; only its texts are taken.
        changes: Heads or layers off, another attention pattern, edited ids or weights.
        masked: Positions that are replaced by [MASK] in both runs.
        top_k: Best words of each run.

    ValueError if the changes are not possible, a position does not exist, or the weights hold NaN.
    """
    views = app_module("app.what_if.views")
    texts = (trace.text_a,) if trace.text_b is None else (trace.text_a, trace.text_b)
    options = {"masked": tuple(masked), "changes": changes, "top_k": top_k}
    effect = views.WORDS.compute(bert, texts, **options)
    shown = [
        (views.TASK, effect.task is not None),
        (views.WORDS, bool(effect.runs.shifts)),
        (views.NEXT_SENTENCE, effect.runs.next_before is not None),
        (views.HIDDEN, True),
        (views.ATTENTION, True),
    ]
    asked = [(view, texts, options) for view, is_there in shown if is_there]
    return draw_views("What if", bert, asked, typed(trace))


def show_ranking(
    bert: Model,
    trace: Trace,
    *,
    measure: str = "",
    masked: Sequence[int] = (),
    word: str | None = None,
    label: str | None = None,
    changes: Changes | None = None,
) -> NotebookView:
    """Remove every head alone, and show the effect of each.

    Args:
        trace: One text or pair through it; only its texts are taken.
        measure: The effect, a field of `HeadImportance` that this text and checkpoint have; the
            first of them if not given.
        masked: Positions that are replaced by [MASK]; the first mask is read.
        word, label: Followed there, and in the task head's answer; the best guess if not given.
        changes: In force in all runs.

    ValueError if there is no such measure, position, word or label. RuntimeError if the checkpoint
    has a task head that cannot be read.
    """
    encoding = masked_encoding(bert, trace.text_a, trace.text_b, tuple(masked))
    at = [i for i, token in enumerate(encoding.tokens) if token == bert.tokenizer.mask_token]
    reader = read_task_head(bert)
    importance = rank_heads(
        bert,
        encoding,
        changes=changes or Changes(),
        position=at[0] if at and "mlm" in bert.capabilities else None,
        word=word,
        task=reader,
        label=label,
    )
    known = importance.measures()
    measure = measure or known[0]
    if measure not in known:
        raise ValueError(f"measure is {measure!r}; expected one of {', '.join(known)}.")
    ranking = app_module("app.what_if.ranking")
    name = ranking.measure_name(measure, importance.task)
    how = ranking.ranking_caption(importance, measure) + " "
    how += how_to_read(bert, "app.what_if.ranking", "RANKING")
    drawn = [Drawn(f"The effect on {name}", ranking.effect_grid(importance, measure), how)]
    values = ranking.code_values(importance, measure, masked, changes or Changes())
    code = opening(bert, [*typed(trace).values()]) + ranking.RANKING.code.format(**values)
    return show_figures("What each head matters here", drawn, bert, typed(trace), code)
