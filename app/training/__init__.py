"""Training: pretrain or fine-tune, watch it learn, and replay it."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="training",
    title="Training",
    purpose="Pretrain a small BERT or fine-tune one on a table, watch it learn, and replay it.",
    needs_text=False,
    needs_checkpoint=False,
    icon=":material/model_training:",
)
