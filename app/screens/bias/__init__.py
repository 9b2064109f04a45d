"""Bias: what a checkpoint associates with groups of people, and how certain that is."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="bias",
    title="Bias",
    purpose="What does BERT associate with groups of people, and how sure is that?",
    needs_text=False,
    icon=":material/balance:",
)
