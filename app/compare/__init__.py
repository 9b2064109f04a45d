"""Compare: two checkpoints on the same text, such as before and after fine-tuning."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="compare",
    title="Compare",
    purpose=(
        "Two checkpoints on the same text: what fine-tuning changed, or two checkpoints of a run."
    ),
    icon=":material/compare:",
)
