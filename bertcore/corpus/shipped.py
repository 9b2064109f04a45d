"""The shipped corpus, which can be searched without a download."""

from pathlib import Path

STORIES = Path(__file__).parent / "texts" / "stories.txt.xz"
"""Prose by Grahame, Twain, Doyle, O. Henry and Leacock, all in the public domain, about 215,000
tokens; `texts/README.md` says where it is from."""
