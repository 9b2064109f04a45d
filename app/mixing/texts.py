"""What the app says on the page: How tokens mix."""

from __future__ import annotations

TEXTS: dict[str, str] = {}
CODE: dict[str, str] = {}

TEXTS["mixing.token"] = (
    "Each strip answers the same question in another way; the framed column is the token itself. "
    "Colour is the share of the strip's sum (its square root, so that small shares are seen; the "
    "token itself may have more than the scale's end), the numbers are percent of the three "
    "largest. Drag over some tokens to see them large, double click to come back. The upper strips "
    "are about one layer, the lower ones about the way from the words themselves up to this layer. "
    "Where they disagree, the weights alone would mislead. None of them says why BERT decides as "
    "it does."
)
TEXTS["mixing.all"] = (
    "One map for each measure: each row is a token that receives, each column one that gives, and "
    "a row sums to 100%. Drag a rectangle in one map to zoom into all, double click to come back. "
    "A bright diagonal means that tokens mostly keep what they have. In the map of the gradient, "
    "rows that do not matter for the chosen output are empty."
)
_MEASURES = (
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
        "… residual, LayerNorm",
        "the same with the residual connection, through LayerNorm (Kobayashi et al. 2021)",
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
        "values and feed-forward; it takes all heads for equally strong",
    ),
    (
        "Flow",
        "maximum flow with the same ½ I + ½ A as capacities (Abnar and Zuidema 2020)",
        "the same; the narrowest place decides, so through many layers all rows grow alike",
    ),
    (
        "Value zeroing rolled out",
        "product of the layers' value zeroing (Mohebbi et al. 2023)",
        "what a token keeps by the residual connection alone; that effects need not multiply",
    ),
)
TEXTS["mixing.measures"] = "\n".join(f"| {' | '.join(row)} |" for row in _MEASURES) + (
    "\n\nAttention is not explanation: a token may be read and change nothing, and it may matter "
    "in a way that no measure here follows. To test a cause, change the text or switch heads off."
)
TEXTS["mixing.head_help"] = (
    "One head: weights, norms and gradient of this head, rollout and flow through the head of this "
    "number in each layer. Value zeroing, and the strip with residual and LayerNorm, always have "
    "all heads together."
)
TEXTS["mixing.others"] = (
    "What a token keeps of itself is large in measures that know the residual connection and left "
    "out in others. Without it, each row is what comes from the other tokens."
)
TEXTS["mixing.slow"] = (
    "They take long with a text of this length, so they wait for you. Of one token, flow takes the "
    "third power of the length, of every token the fourth; value zeroing always the second. Switch "
    "this off to stop."
)
TEXTS["mixing.no_flow"] = (
    "Flow is left out: through {layers} layers, for every one of {given} tokens, it would take "
    "more than minutes. Its cost grows with the fourth power of the length. Look at one token, "
    "at a lower layer, or use a shorter text."
)
TEXTS["mixing.causal"] = (
    "{name} reads from left to right: a token receives nothing from those after it."
)
TEXTS["mixing.encoder"] = (
    "Shown is {name}'s encoder. Where its decoder looks is a view of the page Attention."
)
TEXTS["mixing.attention_alone"] = "Left out: {names}. They look inside the layers, but {reason}"
TEXTS["mixing.no_target"] = (
    "Gradient × attention is left out: this checkpoint has neither a masked-word head nor, for a "
    "pair, a next-sentence head, so there is no output to take it of."
)
TEXTS["mixing.no_gradient"] = (
    "The strip of the gradient is empty: nothing that this token receives in this layer reaches "
    "the chosen output. Next sentence is read off \\[CLS\\] alone."
)
TEXTS["mixing.agreement"] = (
    "Spearman's rank correlation between each two strips above (over all rows, if every token is "
    "shown): 1 means the same order of tokens, 0 none in common, below 0 rather the opposite."
)
TEXTS["mixing.separator"] = (
    "Heads that have nothing to do look at \\[SEP\\]: its weight is large, but the vector sent "
    "from it is short. The lower the other lines are, the less these weights move. Dots are "
    "heads. Of what a token is after attention, others gave (mixing ratio, layer by layer): "
    "{ratios}."
)
CODE["mixing.strips"] = """
from bertcore.analysis.mixing.attention_gradients import (
    NextSentenceLogit,
    attention_gradients,
    best_word,
)
from bertcore.analysis.mixing.flow import attention_flow
from bertcore.analysis.mixing.maps import row_shares
from bertcore.analysis.mixing.norm_weighted import block_norms, weighted_norms
from bertcore.analysis.mixing.rollout import attention_rollout, rollout
from bertcore.analysis.mixing.value_zeroing import value_zeroing

layer, head, token = {layer}, {head}, {token}
gradients = attention_gradients(bert, trace, {target})
zeroing = row_shares(value_zeroing(bert, trace))
maps = {{
    "weights": trace.attentions[layer].{heads},
    "norms": {norms},
    "block": block_norms(bert, trace).normalized[layer],
    "zeroing": zeroing[layer],
    "gradient": gradients.product(layer).abs().{heads},
    "rollout": attention_rollout(trace.attentions, head=head)[layer],
    "flow": attention_flow(trace.attentions[: layer + 1], head=head).values,
    "zeroing_rollout": rollout(zeroing)[layer],
}}
shares = {{name: row_shares(values.float()) for name, values in maps.items()}}   # [T, T] each
row = {{name: values[token] for name, values in shares.items()}}
"""
CODE["mixing.attention_alone"] = """
from bertcore.analysis.mixing.flow import attention_flow
from bertcore.analysis.mixing.maps import row_shares
from bertcore.analysis.mixing.rollout import attention_rollout

layer, head, token = {layer}, {head}, {token}
maps = {{
    "weights": trace.attentions[layer].{heads},
    "rollout": attention_rollout(trace.attentions, head=head)[layer],
    "flow": attention_flow(trace.attentions[: layer + 1], head=head).values,
}}
shares = {{name: row_shares(values.float()) for name, values in maps.items()}}   # [T, T] each
row = {{name: values[token] for name, values in shares.items()}}
"""
CODE["mixing.separator"] = """
from bertcore.analysis.mixing.maps import share_on
from bertcore.analysis.mixing.norm_weighted import block_norms, weighted_norms

separators = [i for i, text in enumerate(trace.text_ids) if text < 0][1:]
blocks = block_norms(bert, trace)
share_on(trace.attentions, separators)              # [L, H]
share_on(weighted_norms(bert, trace), separators)   # [L, H]
share_on(blocks.normalized, separators)             # [L]
blocks.mixing_ratio.mean(-1)                        # [L]
"""
