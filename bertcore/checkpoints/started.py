"""Parts of the shipped checkpoints that did not start from noise; their cards say more."""

STARTED_WORDS = (
    "The word vectors of this checkpoint started as counts of words that occur near each other in "
    "its training text (`--start warm`); training continued from there."
)
STARTED_POSITIONS = (
    "The position table of this checkpoint started as sinusoids (`--start warm`); over all "
    "its 512 rows, the trained vectors still have a mean cosine of 0.37 with them (0.42 in "
    "`causal`)."
)
