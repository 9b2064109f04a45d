"""BERT, GPT and ELMo: who sees whom, what leaks, what they write, positions, a table."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="architectures",
    title="BERT, GPT, ELMo",
    purpose="What changes when a network sees both sides of a word, or one side?",
    icon=":material/compare_arrows:",
)
