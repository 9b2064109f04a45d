"""What if: parts of BERT switched off or changed, and what it answers then."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="what-if",
    title="What if?",
    purpose=(
        "Switch heads and layers off, change which tokens may attend to which, and see the answer."
    ),
    icon=":material/toggle_on:",
)
