"""Training: start a run, watch it learn, and replay it."""

from ..shell.page_info import PageInfo

PAGE = PageInfo(
    name="training",
    title="Training",
    purpose="Start a small BERT, watch it learn, and replay its training.",
    icon=":material/model_training:",
)
