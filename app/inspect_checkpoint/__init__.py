"""Inspect: what a fine-tuned checkpoint answers, why, and where it fails; what a checkpoint has."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="inspect",
    title="Inspect",
    purpose=(
        "What a fine-tuned checkpoint answers, why, and where it fails; what any checkpoint "
        "contains."
    ),
    icon=":material/troubleshoot:",
)
