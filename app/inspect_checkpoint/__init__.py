"""Inspect: what a fine-tuned checkpoint answers, why, what would change it, and where it fails."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="inspect",
    title="Inspect",
    purpose=(
        "What a fine-tuned checkpoint answers, why, what would change its answer, and where it "
        "fails."
    ),
    icon=":material/troubleshoot:",
)
