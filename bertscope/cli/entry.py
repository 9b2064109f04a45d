"""Entry point of the installed command: Ctrl+C ends it quietly, even during imports.

The commands take a second to import, so they are imported inside `main`.
"""


def main() -> None:
    """Run the command line of this process; SystemExit with 130 after Ctrl+C."""
    try:
        from bertscope.cli.main import main as run

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
