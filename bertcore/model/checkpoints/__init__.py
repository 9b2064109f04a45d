"""Checkpoint files: find, check, read, describe and write them. `bertcore.load` opens them."""

from bertcore.model.checkpoints.folder import read_card
from bertcore.model.checkpoints.report import LoadReport
from bertcore.model.checkpoints.save import save
from bertcore.model.checkpoints.source import DEFAULT, is_remote, labelled_file

__all__ = ["DEFAULT", "LoadReport", "is_remote", "labelled_file", "read_card", "save"]
