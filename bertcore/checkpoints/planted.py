"""What training did not form in the checkpoints that ship: their cards say more."""

PLANTED_HEADS = (
    "The four heads of layer 0 of this checkpoint did not arise in training alone: the start of "
    "its training set them to the tokens one and two places before and after (runs of this version "
    "set none), and training kept them."
)
PLANTED_POSITIONS = (
    "The position table of this checkpoint began as sinusoids (`--start warm`); its trained rows "
    "still have a mean cosine of 0.80 with them."
)
