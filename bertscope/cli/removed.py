"""What the command line no longer has, and what to use instead; docs/removed.md has the reasons."""

import re

COMMANDS = {
    "heads": "The page Heads shows the same, and `bertcore.analysis.heads.report` computes it.",
    "ablate": "What if? ranks heads, and `bertcore.analysis.heads.importance` computes it.",
    "prune": "What if? switches heads off; no file without them is written any more.",
    "patch": "Minimal pair patches a pair, and `bertcore.analysis.patching.patch_pairs` many.",
    "compare": "The page Compare shows it, and `bertcore.analysis.compare` computes it.",
    "tuned-lens": "Masked words draws the prediction at each layer by the plain lens.",
    "search": "Search what `bertscope encode` writes with usearch: docs/scale.md has ten lines.",
}
"""By name of the command."""
OPTIONS = {
    "evaluate": {
        **dict.fromkeys(
            ("--good", "--bad"), "Name the columns `sentence_good` and `sentence_bad`."
        ),
        "--groups": "Every column that groups pairs is counted.",
        **dict.fromkeys(
            ("--scoring", "--by-layer"),
            "`bertcore.grammar.pseudo_log_likelihoods` has both ways of scoring.",
        ),
        "--counts-from": "No baseline of word frequency is computed any more.",
        "--resume": "`--predictions` writes the scores when all pairs are scored.",
    },
    "export": {
        "--atlas": "Open what `bertscope encode` writes in embedding-atlas: docs/scale.md.",
    },
}
"""By command and option."""


def instead(error: Exception) -> str | None:
    """Return what to use instead of what a command line named; None if it was never there.

    Args:
        error: Typer's, on a command or option that it does not know.
    """
    command = getattr(getattr(error, "ctx", None), "info_name", None) or ""
    option = getattr(error, "option_name", None)
    if option is not None:
        advice, name = OPTIONS.get(command, {}).get(option), f"{command} {option}"
    else:
        unknown = re.search(r"No such command '(.+?)'", str(getattr(error, "message", "")))
        name = unknown[1] if unknown else ""
        advice = COMMANDS.get(name)
    return advice and f"`bertscope {name}` was removed in 0.3.0. {advice}"
