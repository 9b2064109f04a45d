"""Checkpoint files: find, check, read, describe and write them. `bertcore.load` opens them."""

from bertcore.checkpoints.folder import read_card
from bertcore.checkpoints.report import LoadReport
from bertcore.checkpoints.save import save
from bertcore.checkpoints.source import DEFAULT, is_remote, labelled_file

__all__ = ["DEFAULT", "LoadReport", "is_remote", "labelled_file", "read_card", "save"]
