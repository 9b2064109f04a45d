"""What if: parts of BERT switched off or changed, and what it answers then."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="what-if",
    title="What if?",
    purpose="Which parts does the answer need? Switch some off and see.",
    icon=":material/toggle_on:",
)
