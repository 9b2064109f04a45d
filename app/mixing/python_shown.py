"""Python that makes the maps of the measures drawn; the code of each picture follows it."""

import re
from collections.abc import Collection

from ..shell import frame
from .measures import Choice

_MODULES = {
    "NextSentenceLogit": "attention_gradients",
    "attention_gradients": "attention_gradients",
    "best_word": "attention_gradients",
    "attention_flow": "flow",
    "normalize_rows": "maps",
    "block_norms": "norm_weighted",
    "weighted_norms": "norm_weighted",
    "attention_rollout": "rollout",
    "rollout": "rollout",
    "value_zeroing": "value_zeroing",
}
"""Where each function that may be used comes from."""
_TARGETS = {"word": "best_word(bert, trace, token)", "next": "NextSentenceLogit()"}


def maps_code(
    page: frame.Page, choice: Choice, drawn: Collection[str], *, every_token: bool, others: bool
) -> str:
    """Return Python from opening the checkpoint to `maps`, the numbers of each measure, [R, T].

    Args:
        drawn: The measures, in order.
        every_token: Whether there is a row for every token, or for the chosen one alone.
        others: Whether the token itself is left out.
    """
    heads = "mean(0)" if choice.head is None else "select(0, head)"
    norms = "block_norms(bert, trace).summed[layer]"
    if choice.head is not None:
        norms = "weighted_norms(bert, trace)[layer, head]"
    # All of value zeroing takes long, and only the rollout needs it.
    is_rolled = "zeroing_rollout" in drawn
    asked = "" if every_token else ", tokens=[token]"
    one_row = f"value_zeroing(bert, trace{asked})[layer]"
    values = {
        "weights": f"trace.attentions[layer].{heads}[rows]",
        "norms": f"{norms}[rows]",
        "block": "block_norms(bert, trace).normalized[layer][rows]",
        "zeroing": "zeroing[layer][rows]" if is_rolled else one_row,
        "gradient": f"gradients.product(layer).abs().{heads}[rows]",
        "rollout": "attention_rollout(trace.attentions, head=head)[layer][rows]",
        "flow": f"attention_flow(trace.attentions[: layer + 1], head=head{asked}).values",
        "zeroing_rollout": "rollout(zeroing)[layer][rows]",
    }
    lines = [
        f"layer, head, token = {choice.layer}, {choice.head}, {choice.token}",
        "rows = slice(None)" if every_token else "rows = [token]",
    ]
    if choice.target is not None and "gradient" in drawn:
        lines.append(f"gradients = attention_gradients(bert, trace, {_TARGETS[choice.target]})")
    if is_rolled:
        lines.append("zeroing = normalize_rows(value_zeroing(bert, trace))")
    lines += ["maps = {", *(f'    "{name}": {values[name]},' for name in drawn), "}"]
    if others:
        lines += [
            "is_other = ~torch.eye(trace.num_tokens, dtype=bool)[rows]  # all but the token itself",
            "maps = {name: values * is_other for name, values in maps.items()}",
        ]
    body = "\n".join(lines)
    imports = [
        f"from bertcore.analysis.mixing.{module} import {name}"
        for name, module in _MODULES.items()
        if name == "normalize_rows" or re.search(rf"\b{name}\(", body)
    ]
    torch = ["import torch", ""] if others else []
    return page.setup_code + "\n" + "\n".join([*torch, *imports, "", body, ""])
