"""What the page shows: the whole network on one text, drawn by a component."""

from collections.abc import Callable

from bertcore import Model
from bertcore.analysis.mixing.layer_parts import Passage, passage

from ...parts.html_file.document import ScriptedPicture
from ...parts.walk import drawing
from ...parts.walk.steps import walk
from ...parts.walk.summary import reduced
from ...plots.special_tokens import marks_of
from ...plots.tables import arrays
from ...view import View


def part(
    passed: Passage, *, bert: Model | None = None, message: Callable[[], bytes] | None = None
) -> ScriptedPicture:
    """Return the drawing for an HTML file.

    Args:
        bert: The checkpoint, if there is no `message`.
        message: Returns what the drawing shows.
    """
    if message is None:
        assert bert is not None
        glance = reduced(bert, passed)
        steps = walk(bert, glance, marks_of(bert.tokenizer))
        return drawing.COMPONENT.part(drawing.message(bert, glance, steps, 0))
    return drawing.COMPONENT.part(message())


GLANCE = View(
    name="glance",
    question="What happens to a text inside BERT?",
    of=passage,
    part=part,
    table=arrays(
        tokens="trace.tokens",
        token="trace.embeddings.token",
        segment="trace.embeddings.segment",
        position="trace.embeddings.position",
        hidden_states="trace.hidden_states",
        after_attention="after_attention",
        attention="attention",
    ),
    how=(
        "Each row is a token; what happens to it runs from left to right, from the text to the "
        "predictions.\n\n"
        "The cells of a vector are means of neighbouring numbers: blue above zero, orange below, "
        "strongest where the column is largest. A line runs from a token that is read to the token "
        "that reads it; its weight is the mean over the layer's heads. Each token reads along at "
        "most three lines, from 8% and 1.5 divided by the number of tokens on; the framed token "
        "along at most eight, in pink, from 3% on (less in texts of more than 62 tokens). A square "
        "is a head: row reads column. Attention shows where information is taken from, not why "
        "BERT answers as it does."
    ),
)
