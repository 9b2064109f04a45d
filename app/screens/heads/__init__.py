"""Heads: what each attention head does over many sentences."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="heads",
    title="Heads",
    purpose="What does each attention head look for, over many sentences?",
    needs_text=False,
    icon=":material/grid_view:",
)
