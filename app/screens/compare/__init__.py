"""Compare: two checkpoints on the same text, such as before and after fine-tuning."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="compare",
    title="Compare",
    purpose="What did training change between two checkpoints, on the same text?",
    icon=":material/compare:",
)
