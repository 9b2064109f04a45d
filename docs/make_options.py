"""Write the tables of options (command-line.md), of settings (training.md) and of views (app.md).

python docs/make_options.py
"""

import re
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import typer

from app.navigation import PAGES
from app.view import views_of
from bertcore.configs import DistillConfig
from bertscope.cli.commands import finetune, pretrain
from bertscope.cli.main import build_app

DOCS = Path(__file__).resolve().parent


def options() -> str:
    """Return each command with its arguments and options."""
    group: Any = typer.main.get_command(build_app())
    lines = ["| Command | Arguments and options |", "|---|---|"]
    for name, command in {"": group, **group.commands}.items():
        words = [
            "/".join(p.opts + p.secondary_opts) if p.param_type_name == "option" else p.metavar
            for p in sorted(command.params, key=lambda p: p.param_type_name)
        ]
        shown = " ".join(f"`{word}`" for word in words if word)
        lines.append(f"| `{f'bertscope {name}'.strip()}` | {shown} |")
    return "\n".join(lines)


def settings() -> str:
    """Return the settings of recipes that are no options, with their defaults, by dataclass."""
    group: Any = typer.main.get_command(build_app())
    lines = ["| Recipe of | Settings and defaults |", "|---|---|"]
    for name, module in (("pretrain", pretrain), ("finetune", finetune)):
        typed = {parameter.name for parameter in group.commands[name].params}
        for config in module.CONFIGS:
            usual = DistillConfig.for_task() if name == "finetune" else DistillConfig()
            named = [
                f"`{field.name}{_default(getattr(usual, field.name, field.default))}`"
                for field in fields(config)
                if field.name in module.RECIPE.keys() - typed
            ]
            if named:
                lines.append(f"| `{name}`, {config.__name__} | {', '.join(named)} |")
    return "\n".join(lines)


def views() -> str:
    """Return each page with the questions and names of its views, or its purpose."""
    lines = ["| Page | What it answers, and the name of each view |", "|---|---|"]
    for folder, page in PAGES.items():
        told = [f"{view.question} `{view.name}`" for view in views_of(folder).values()]
        lines.append(f"| **{page.title}** | {' '.join(told) or page.purpose} |")
    return "\n".join(lines)


def _default(value: Any) -> str:
    if value is MISSING or value is None or value == ():
        return ""
    shown = str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')
    return f" = {shown}"


def with_tables(page: str) -> str:
    """Return a page with its tables made anew."""
    for name, make in (("options", options), ("settings", settings), ("views", views)):
        block = rf"(<!-- {name} -->\n).*?(\n<!-- end -->)"
        page = re.sub(block, lambda m, make=make: m[1] + make() + m[2], page, flags=re.S)  # type: ignore[misc]
    return page


if __name__ == "__main__":
    for path in (DOCS / "command-line.md", DOCS / "training.md", DOCS / "app.md"):
        path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
