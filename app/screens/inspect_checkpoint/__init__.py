"""Inspect: what a fine-tuned checkpoint answers, why, and where it fails; what a checkpoint has."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="inspect",
    title="Inspect my model",
    purpose="What does your model answer, why, and where is it wrong?",
    icon=":material/troubleshoot:",
)
