"""Bias: what a checkpoint associates with groups of people, and how certain that is."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="bias",
    title="Bias",
    purpose=(
        "What does a checkpoint associate with groups of people, how certain is that, and what can "
        "such a score not show?"
    ),
    needs_text=False,
    icon=":material/balance:",
)
