"""The heads over many sentences, in a notebook."""

from typing import Literal

from bertcore import Model
from bertcore.analysis.heads.report import HeadReport
from bertscope.notebook.notebook_view import Drawn, NotebookView, app_module, show_figures


def show_heads(
    bert: Model,
    report: HeadReport,
    measure: str = "to_previous",
    direction: Literal["", "to_head", "to_dependent"] = "",
    *,
    opened: tuple[int, int] | None = None,
) -> NotebookView:
    """Show one measure, or one dependency relation, of all heads, and all habits of one head.

    Args:
        report: As `bertcore.analysis.heads.report.report_heads` returns it.
        measure: A habit such as "to_previous", or a relation such as "obj".
        direction: Of a relation: which of its two words looks for the other.
        opened: Layer and head whose habits are drawn; the one with the most if not given.

    ValueError if there is no such measure or head.
    """
    views, answers = app_module("app.heads.views"), app_module("app.heads.answer")
    names = app_module("app.heads.names")
    known = names.all_measured(report)
    measured = names.NamedMeasure(measure, direction)
    if measured.key not in known:
        listed = ", ".join(f"{one.name} {one.direction}".strip() for one in known.values())
        wanted = f"{measure} {direction}".strip()
        raise ValueError(f"{wanted!r} was not measured; expected one of {listed}.")
    best = answers.best(report, measured)
    if opened is None:
        opened = best
    else:
        num_layers, num_heads = report.statistics.means.mean.shape[:2]
        if not (0 <= opened[0] < num_layers and 0 <= opened[1] < num_heads):
            raise ValueError(
                f"opened is {opened}; expected a layer from 0 to {num_layers - 1} and a head from "
                f"0 to {num_heads - 1}."
            )
    special_tokens = app_module("app.plots.special_tokens")
    marks = special_tokens.marks_of(bert.tokenizer)
    grid = views.GRID.draw(report, measured=measured, opened=opened, marks=marks)
    drawn = [Drawn("", grid, "")]
    if opened is not None:
        bars = views.BARS.draw(report, head=opened, marks=marks)
        sentences = answers.sentences(report, measured, opened, is_best=opened == best)
        caption = special_tokens.own_markdown(sentences, marks)
        drawn = [Drawn("", grid, caption), Drawn("", bars, "")]
    number = answers.cell_meaning(report, measured)
    how = special_tokens.filled_markdown(views.GRID.how, marks, number=number, opening="")
    drawn[-1] = drawn[-1]._replace(caption=how)
    return show_figures("Heads", drawn, bert, {}, "")
