"""What the papers say: figures with their sources, and claims that are not true."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="papers",
    title="What the papers say",
    purpose="Which figures are quoted for BERT, which are true, and where are they from?",
    needs_text=False,
    needs_checkpoint=False,
    icon=":material/menu_book:",
)
