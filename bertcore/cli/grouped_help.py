"""Help of a command with many options: in groups, by what they are about."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class GroupedCommand(TyperCommand):
    """A command whose --help shows each option under its `rich_help_panel`, in plain text.

    Typer itself shows panels only where it reads help as markup, in which [MASK] would get lost.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the groups in the order of their first options; those without one come last."""
        groups: dict[str, list[tuple[str, str]]] = {}
        last: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            panel = getattr(parameter, "rich_help_panel", None)
            (last if panel is None else groups.setdefault(panel, [])).append(record)
        for name, records in [*groups.items(), ("Other", last)]:
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)
