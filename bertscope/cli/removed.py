"""What the command line no longer has, and what to use instead; docs/removed.md has the reasons."""

import re
import tomllib
from collections.abc import Collection
from pathlib import Path

_FILE = Path(__file__).with_suffix(".toml")
_REMOVED = tomllib.loads(_FILE.read_text(encoding="utf-8"))
COMMANDS: dict[str, str] = _REMOVED["commands"]
"""By name of the command."""
OPTIONS: dict[str, dict[str, str]] = {
    command: {option: instead for names, instead in listed.items() for option in names.split()}
    for command, listed in _REMOVED["options"].items()
}
"""By command, and option or first word."""
CHECKPOINTS = ("inspect", "probe")
"""Commands whose checkpoint was an argument."""


def instead(error: Exception) -> str | None:
    """Return what to use instead of what a command line named; None if it was never there.

    Args:
        error: Typer's, on a command, option or word that it does not know.
    """
    command = getattr(getattr(error, "ctx", None), "info_name", None) or ""
    option = getattr(error, "option_name", None)
    message = str(getattr(error, "message", ""))
    if extra := re.search(r"unexpected extra argument\S* \(((\S+?)(?: .+)?)\)", message):
        option = extra[2]
        if command in CHECKPOINTS:
            return f"the checkpoint of `bertscope {command}` is named by --checkpoint {extra[1]}."
    if option is not None:
        advice, name = OPTIONS.get(command, {}).get(option), f"{command} {option}"
        if extra and command == "export":
            advice = OPTIONS["export"]["--layers"]
        field = option.removeprefix("--").replace("-", "_")
        if advice is None and field in recipe_settings(command):
            return (
                f"{field} is no option of `bertscope {command}` but a setting of its recipe. Write "
                f"`{field} = ...` in a file, and give it with --recipe FILE.toml."
            )
    else:
        unknown = re.search(r"No such command '(.+?)'", message)
        name = unknown[1] if unknown else ""
        advice = COMMANDS.get(name)
    named = f"bertscope {name.removeprefix('bertscope ')}"
    return advice and f"`{named}` was removed in 0.3.0. {advice}"


def recipe_settings(command: str) -> Collection[str]:
    """Return the settings that the recipes of a command may have; none of another command."""
    from bertscope.cli.commands import finetune, pretrain

    known = {"pretrain": pretrain.RECIPE, "finetune": finetune.RECIPE}
    return known.get(command, {}).keys()
