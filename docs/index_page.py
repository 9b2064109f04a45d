"""What stands outside a checkout: README as the package index shows it, and the public address.

The address of the repository is set in one place, `[project.urls]` of pyproject.toml
(`Repository = "https://..."`), and is empty until there is one. As a metadata hook of hatchling
this module makes the long description: the links and pictures of README lead to the repository at
the tag of the version; without an address, links become their words and pictures are left out.
`python docs/index_page.py` writes the address into CITATION.cff, README and docs/install.md.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parents[1]
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")
LINK = re.compile(r"\[((?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*)\]\(([^)]+)\)")
CLONE = re.compile(r"git clone --depth 1(?: https://[^\s`,)]+)?")
CITED = re.compile(r"^repository-code: .*\n", re.MULTILINE)


def address(project: dict[str, Any]) -> str:
    """Return the address of the repository without a slash at its end; empty if it has none."""
    return str(project.get("urls", {}).get("Repository", "")).rstrip("/")


def long_description(readme: str, repository: str, version: str) -> str:
    """Return README without a relative link.

    Args:
        repository: Its public address, or "".
        version: What the links lead to: the files of this version's tag.
    """

    def picture(match: re.Match[str]) -> str:
        words, to = match.groups()
        if "://" in to:
            return match[0]
        return f"![{words}]({repository}/raw/v{version}/{to})" if repository else ""

    def link(match: re.Match[str]) -> str:
        words, to = match.groups()
        if "://" in to:
            return match[0]
        return f"[{words}]({repository}/blob/v{version}/{to})" if repository else words

    return LINK.sub(link, PICTURE.sub(picture, readme))


def with_address(text: str, repository: str) -> str:
    """Return a document with the clone command, or CITATION.cff, that names the repository."""
    text = CLONE.sub(f"git clone --depth 1 {repository}".rstrip(), text)
    if text.startswith("cff-version:"):
        text = CITED.sub("", text)
        text += f'repository-code: "{repository}"\n' if repository else ""
    return text


WRITTEN = ("CITATION.cff", "README.md", "docs/install.md")
"""Files of the repository that name its address."""


class Readme(MetadataHookInterface):
    """Gives hatchling the long description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `readme` in the metadata of the project."""
        root = Path(self.root)
        core = (root / "bertcore" / "__init__.py").read_text(encoding="utf-8")
        version = re.search(r'^__version__ = "(.+)"', core, re.MULTILINE)
        assert version is not None
        readme = (root / "README.md").read_text(encoding="utf-8")
        text = long_description(readme, address(metadata), version[1])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def main() -> None:
    """Write the address where it is named."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in WRITTEN:
        path = ROOT / name
        path.write_text(
            with_address(path.read_text(encoding="utf-8"), address(project)), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
