"""The languages of the app, its texts in them, and its special words explained."""

from .language import tr

__all__ = ["tr"]
