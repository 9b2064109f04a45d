"""What each measure is, its formula, and its limits."""

_ROWS = (
    ("Measure", "Formula", "What it does not see"),
    ("---", "---", "---"),
    (
        "Attention weights",
        "α = softmax(q·k / √K), mean of the heads",
        "how long the vector is that a weight multiplies",
    ),
    (
        "Norm-weighted",
        "‖Σ α f(x)‖ over the heads, with f(x) = (x W_V + b_V) W_O (Kobayashi et al. 2020)",
        "what the token keeps of itself",
    ),
    (
        "… with residual",
        "the same with the residual connection, and LayerNorm if one follows it (Kobayashi et al. "
        "2021)",
        "the feed-forward block",
    ),
    (
        "Value zeroing",
        "1 − cos(y, y with the other token's value 0), y the layer's output (Mohebbi et al. 2023)",
        "later layers; two tokens that stand in for each other",
    ),
    (
        "Gradient × attention",
        "size of α · ∂ output / ∂α, mean of the heads (as in Barkan et al. 2021, with both signs)",
        "large changes: it is a slope at one point, for one output",
    ),
    (
        "Rollout",
        "product of ½ I + ½ A over the layers (Abnar and Zuidema 2020)",
        "values and feed-forward; it treats all heads as equally strong",
    ),
    (
        "Flow",
        "maximum flow with the same ½ I + ½ A as capacities (Abnar and Zuidema 2020)",
        "the same; the narrowest place decides, so through many layers all rows become alike",
    ),
    (
        "Value zeroing rolled out",
        "product of the layers' value zeroing (Mohebbi et al. 2023)",
        "what a token keeps through the residual connection alone; that effects need not multiply",
    ),
)
MEASURES_EXPLAINED = "\n".join(f"| {' | '.join(row)} |" for row in _ROWS) + (
    "\n\nAttention is not explanation: a token may be read and change nothing, and it may matter "
    "in a way that no measure here follows. To test a cause, change the text or switch heads off."
)
"""A table in Markdown."""
