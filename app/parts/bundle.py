"""Read the committed bundle of a browser component.

The sources are the modules beside it; `npm run build` bundles each entry module NAME into
NAME.bundle.js and, if it imports styles, NAME.bundle.css.
"""

import json
from pathlib import Path
from typing import NamedTuple


class Bundle(NamedTuple):
    """The script and the styles of a browser component."""

    script: str
    """Defines the constant `bundle` with the exports of the entry module."""
    style: str
    """CSS; empty if the component has none of its own."""

    @property
    def module(self) -> str:
        """The script as a module with the default export that Streamlit mounts.

        It brings the styles along, which Streamlit would send with every new message.
        """
        if not self.style:
            return f"{self.script}export default bundle.default;\n"
        return (
            f"{self.script}const sheet = new CSSStyleSheet();\n"
            f"sheet.replaceSync({json.dumps(self.style)});\n"
            "export default (mounted) => {\n"
            "  const root = mounted.parentElement.getRootNode();\n"
            "  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);\n"
            "  return bundle.default(mounted);\n"
            "};\n"
        )


def read_bundle(entry: str | Path) -> Bundle:
    """Return the bundle of an entry module.

    Args:
        entry: Path of the module without its suffix, or of the Python module of the same name.

    FileNotFoundError if there is no such bundle.
    """
    path = Path(entry)
    script = path.with_name(f"{path.stem}.bundle.js").read_text(encoding="utf-8")
    style = path.with_name(f"{path.stem}.bundle.css")
    return Bundle(script, style.read_text(encoding="utf-8") if style.is_file() else "")
