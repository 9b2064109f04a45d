"""The page Class, on servers with a class alone: its answers by step, findings, and grades."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="class",
    title="Class",
    purpose="What does the class answer, where is it wrong, and what did it find?",
    icon=":material/groups:",
    needs_text=False,
    needs_checkpoint=False,
)
