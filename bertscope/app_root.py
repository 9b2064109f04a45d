"""Where the app is: beside this package in a checkout, inside it in a wheel."""

from pathlib import Path


def find_app_root() -> Path:
    """Return the folder that contains `app/main.py`, `pages` and `.streamlit`.

    RuntimeError if neither the wheel's folder nor the checkout's contains the app.
    """
    package = Path(__file__).resolve().parent
    candidates = (package, package.parent)
    for root in candidates:
        if (root / "app" / "main.py").is_file() and (root / "pages").is_dir():
            return root
    raise RuntimeError(
        f"the app's files are missing: looked for app/main.py in {candidates[0]} and "
        f"{candidates[1]}. Install BertScope again, from a wheel or with pip install -e ."
    )
