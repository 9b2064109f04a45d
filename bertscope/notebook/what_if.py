"""The effect of changes, and the importance of heads, in a notebook."""

from collections.abc import Sequence
from dataclasses import replace

from bertcore import Model, Trace
from bertcore.interventions import Changes
from bertscope.notebook.notebook_view import NotebookView, app_module, typed
from bertscope.notebook.show import draw, draw_views


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

    ValueError if there is no such measure, position, word or label.
    """
    views = app_module("app.what_if.views")
    ranking = replace(views.RANKING, fills=lambda found: {"meaning": views.meaning(found, measure)})
    texts = (trace.text_a,) if trace.text_b is None else (trace.text_a, trace.text_b)
    options = {
        "masked": tuple(masked),
        "changes": changes or Changes(),
        "word": word,
        "label": label,
    }
    importance = ranking.compute(bert, texts, **options)
    return draw(ranking, importance, bert, texts, options, drawn={"measure": measure})
