"""Bias: what a checkpoint associates with groups of people, and how sure that is."""

from ..shell.page_info import PageInfo

PAGE = PageInfo(
    name="bias",
    title="Bias",
    purpose=(
        "What does a checkpoint associate with groups of people, how sure is that, and what can "
        "such a score not tell?"
    ),
    icon=":material/balance:",
)
