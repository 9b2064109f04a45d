"""What a reader must know of the checkpoint that ships before reading its heads and positions."""

PLANTED_HEADS = (
    "The four heads of layer 0 of the shipped checkpoint did not arise in training alone: they "
    "began as patterns for the tokens one and two places before and after (`--start warm`), and "
    "training kept them."
)
PLANTED_POSITIONS = (
    "The position table of the shipped checkpoint began as sinusoids (`--start warm`); its trained "
    "rows still have a mean cosine of 0.80 with them."
)
