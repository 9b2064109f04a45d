"""`python -m bertscope`: the command, where it is not installed."""

from bertscope.cli.entry import main

main()
