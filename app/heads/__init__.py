"""Heads: what each attention head does over many sentences."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="heads",
    title="Heads",
    purpose=(
        "What each attention head does over many sentences: its habits, and the grammar it finds."
    ),
    needs_text=False,
    icon=":material/grid_view:",
)
