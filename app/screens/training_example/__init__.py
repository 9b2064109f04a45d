"""Training example: from a document to a loss, by the code that trains."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="training-example",
    title="Training example",
    purpose="What is BERT given in training, what does it guess, and how is it corrected?",
    needs_text=False,
    icon=":material/school:",
)
