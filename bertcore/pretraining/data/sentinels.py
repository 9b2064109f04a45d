"""T5's sentinels: tokens that stand for removed spans."""

from bertcore.objectives import t5_num_spans
from bertcore.tokenizer import AddedToken, Tokenizer

NUM_SENTINELS = 100
"""Number of sentinels, as in T5's own vocabulary."""


def sentinel(number: int) -> str:
    """Return the token of a sentinel, named as in T5's tokenizer.

    >>> sentinel(0)
    '<extra_id_0>'
    """
    return f"<extra_id_{number}>"


def sentinel_ids(tokenizer: Tokenizer) -> tuple[int, ...]:
    """Return the ids of <extra_id_0>, <extra_id_1>, ..., up to the last one."""
    ids: list[int] = []
    while (found := tokenizer.token_to_id(sentinel(len(ids)))) is not None:
        ids.append(found)
    return tuple(ids)


def with_sentinels(tokenizer: Tokenizer, number: int = NUM_SENTINELS) -> Tokenizer:
    """Return a tokenizer with `number` sentinels after its pieces; itself if it has some."""
    if sentinel_ids(tokenizer):
        return tokenizer
    new = [AddedToken(sentinel(i)) for i in range(number)]
    return Tokenizer(
        tokenizer.vocab,
        do_lower_case=tokenizer.do_lower_case,
        strip_accents=tokenizer.strip_accents,
        tokenize_chinese_chars=tokenizer.tokenize_chinese_chars,
        model_max_length=tokenizer.model_max_length,
        added_tokens=(*tokenizer.added_tokens, *new),
    )


def check_sentinels(tokenizer: Tokenizer, max_seq_length: int, share: float) -> None:
    """Reject a vocabulary with fewer sentinels than a row may need.

    Args:
        max_seq_length: Length of the longest row, including its special tokens.
        share: Share of the pieces that are removed.

    ValueError if it has too few.
    """
    needed, there = t5_num_spans(max_seq_length - 2, share=share), len(sentinel_ids(tokenizer))
    if there < needed:
        others = ""
        if there < NUM_SENTINELS:
            others = f", or use a tokenizer with none, to which {NUM_SENTINELS} are added"
        raise ValueError(
            f"the vocabulary has {there} sentinel{'' if there == 1 else 's'} ({sentinel(0)}, ...), "
            f"but a row of {max_seq_length} tokens needs {needed} if {share:g} of it is "
            f"removed. Lower --max-seq-length or --masked-lm-prob{others}."
        )
