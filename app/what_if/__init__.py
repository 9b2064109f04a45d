"""What if: parts of BERT switched off or changed, and what it says then."""

from ..shell.page_info import PageInfo

PAGE = PageInfo(
    name="what-if",
    title="What if?",
    purpose=(
        "Switch heads and layers off, change who may look at whom, and see what BERT says then."
    ),
    icon=":material/toggle_on:",
)
