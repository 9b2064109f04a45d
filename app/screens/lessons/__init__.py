"""The page Lessons: all lessons with goals, sheets and teacher's notes; files by language."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="lessons",
    title="Lessons",
    purpose="One question at a time, beside the pictures, answered by the model on your sentence.",
    icon=":material/school:",
    needs_text=False,
    needs_checkpoint=False,
)
