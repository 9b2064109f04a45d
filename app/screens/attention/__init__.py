"""Attention: what each token attends to, in every head of every layer."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="attention",
    title="Attention",
    purpose="What each token attends to, in every head of every layer.",
    icon=":material/visibility:",
)
