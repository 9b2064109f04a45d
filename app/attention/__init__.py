"""Attention: where each token looks, in every head of every layer."""

from ..shell.page_info import PageInfo

PAGE = PageInfo(
    name="attention",
    title="Attention",
    purpose="Where each token looks, in every head of every layer.",
    icon=":material/visibility:",
)
