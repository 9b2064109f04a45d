"""Grammar exam: which sentence of many minimal pairs a checkpoint finds more probable."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="grammar",
    title="Grammar exam",
    purpose=(
        "Two sentences differ in a detail, and one is wrong: does BERT find the good one more "
        "probable? Which grammar does it know, and from which layer on?"
    ),
    needs_text=False,
    icon=":material/spellcheck:",
)
