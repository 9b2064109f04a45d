"""Open and save checkpoints: the shipped one, a folder, or one of the Hugging Face hub."""

from bertcore.checkpoints.folder import read_card
from bertcore.checkpoints.load import DEFAULT, is_remote, load
from bertcore.checkpoints.report import LoadReport
from bertcore.checkpoints.save import save

__all__ = ["DEFAULT", "LoadReport", "is_remote", "load", "read_card", "save"]
