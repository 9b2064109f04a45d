"""The door: one sentence with a gap, what BERT puts in it, and three ways into the app."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="door",
    title="BertScope",
    purpose="BERT fills gaps in a text. It reads both sides of each word.",
    icon=":material/home:",
    needs_text=False,
)
