"""Read the committed bundle of a browser component.

The sources are the modules beside it; `npm run build` bundles each entry module NAME into
NAME.bundle.js and, if it imports styles, NAME.bundle.css.
"""

import json
from pathlib import Path
from typing import NamedTuple

MOUNTED = Path(__file__).with_name("browser") / "mounted"


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
        wrapper = f"{read_bundle(MOUNTED).script}return bundle.default;\n"
        start = f"const mounted = (() => {{\n{wrapper}}})();\n"
        end = f"export default mounted(bundle.default, {json.dumps(self.style)});\n"
        return start + self.script + end


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
