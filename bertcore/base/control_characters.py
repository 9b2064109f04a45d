"""Characters that control a terminal, the writing direction or the lines of a log."""


def escaped(text: str) -> str:
    r"""Return a text in which such characters are written as Python writes them.

    >>> escaped("a[b]\x1b[31m\n")
    'a[b]\\x1b[31m\\n'
    """
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )
