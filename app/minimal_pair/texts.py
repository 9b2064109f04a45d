"""What the app says on the page: Minimal pair."""

from __future__ import annotations

TEXTS: dict[str, str] = {}
CODE: dict[str, str] = {}

TEXTS["minimal-pair.same"] = (
    "The two versions are the same, so nothing differs. Take an example, or *Copy the first "
    "version* and change a word in it."
)
TEXTS["minimal-pair.part"] = (
    "Drawn are {drawn} of {total} tokens, of those in both versions the ones that differ or change "
    "most, with their positions. *All tokens* draws the rest; CSV and NPZ always have all."
)
TEXTS["minimal-pair.tokens"] = (
    "What both versions share stands once. What differs is framed, the first version above the "
    "second; ∅ is a token that one of them does not have. Equal tokens are found first; what was "
    "replaced stands in order below what it replaces."
)
TEXTS["minimal-pair.no_answer"] = (
    "BERT has no question to answer here: write \\[MASK\\] at the same place in both versions to "
    "compare its words, or make it a pair to compare the next-sentence answer."
)
TEXTS["minimal-pair.no_head"] = (
    "This checkpoint has no masked-word (MLM) head, so no words can be compared. What differs "
    "inside is below; choose a pretrained checkpoint such as `default` in the sidebar for words."
)
TEXTS["minimal-pair.words"] = (
    "The best words at each \\[MASK\\] in the first version (grey) and the second (blue): the five "
    "best of both. Behind the probabilities stands the difference in percentage points. KL says "
    "how far the whole vocabulary moved: 0 is not at all."
)
TEXTS["minimal-pair.attention"] = (
    "Blue: the row's token looks more at the column's in the second version; orange: less. Rows "
    "and columns of a token that one version lacks are empty; their neighbours' rows then need "
    "not sum to zero. Changed tokens are bold."
)
TEXTS["minimal-pair.heads"] = (
    "How differently each head looks in the two versions: Jensen-Shannon divergence of its rows, 0 "
    "the same, 1 nothing in common. In layer 0 only the queries and keys of changed and moved "
    "tokens differ; above, everything may."
)
TEXTS["minimal-pair.vectors"] = (
    "How much each token's vector differs after each layer, 1 − cosine: layer 0 holds the "
    "embeddings, so there only changed and moved tokens differ. Follow a row down: how far the "
    "change spreads, and which tokens take it up."
)
CODE["minimal-pair.compare"] = """
from bertcore.analysis.compare.minimal_pair import aligned_attention, compare_pair

second = bert.trace({texts})
found = compare_pair(bert, trace, second)
found.columns, found.shifts, found.next_first, found.next_second
found.hidden_change, found.attention_change             # [L+1, N], [L, H]
"""
CODE["minimal-pair.attention"] = """
one, two = aligned_attention(trace, second, found.columns, {layer}, {head})
difference = two - one                                  # [N, N]
"""
