"""Training: pretrain or fine-tune, watch it learn, and replay it."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="training",
    title="Training",
    purpose="Train a small BERT, watch it learn, and play it again.",
    needs_text=False,
    needs_checkpoint=False,
    icon=":material/model_training:",
)
