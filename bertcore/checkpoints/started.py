"""What training did not form by itself in the checkpoints that ship: their cards say more."""

STARTED_WORDS = (
    "The word vectors of this checkpoint began as counts of the words that stand near each other "
    "in its training text (`--start warm`); training went on from there."
)
STARTED_POSITIONS = (
    "The position table of this checkpoint began as sinusoids (`--start warm`); over all "
    "its 512 rows, the trained ones still have a mean cosine of 0.42 with them."
)
