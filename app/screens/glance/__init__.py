"""BERT at a glance: the whole network on one text, from the characters to the predictions."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="glance",
    title="BERT at a glance",
    purpose="What happens to a text inside BERT, from its characters to the predictions?",
    icon=":material/account_tree:",
)
