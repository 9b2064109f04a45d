"""The entry of the app: `streamlit run app/main.py`, from a checkout or from a wheel's folder."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if sys.path[0] != str(ROOT):  # in front: a file app.py elsewhere must not be taken for our `app`
    sys.path[:] = [str(ROOT), *(entry for entry in sys.path if entry != str(ROOT))]

import streamlit as st  # noqa: E402

from app import frame, sidebar, state, texts  # noqa: E402

# Script and icon of each page, in the order of a first lesson.
SCRIPTS = {
    "tokens": ("tokens.py", ":material/text_fields:"),
    "attention": ("attention.py", ":material/visibility:"),
    "mixing": ("mixing.py", ":material/blender:"),
    "heads": ("heads.py", ":material/grid_view:"),
    "masked-words": ("masked_words.py", ":material/edit_note:"),
    "sentence-pairs": ("sentence_pairs.py", ":material/compare_arrows:"),
    "what-if": ("what_if.py", ":material/toggle_on:"),
    "minimal-pair": ("minimal_pair.py", ":material/difference:"),
    "compare": ("compare.py", ":material/compare:"),
    "layer-map": ("layer_map.py", ":material/scatter_plot:"),
    "checkpoints": ("checkpoints.py", ":material/folder_open:"),
    "inspect": ("inspect_checkpoint.py", ":material/troubleshoot:"),
    "training": ("training.py", ":material/model_training:"),
}


def main() -> None:
    """Draw the frame and run the chosen page."""
    st.set_page_config(
        page_title="BertScope",
        page_icon=str(ROOT / "app" / "icon.svg"),  # an icon by name would come from another host
        layout="wide",
    )
    st.html(ROOT / "app" / "style.css")
    state.begin_run()
    pages = [
        st.Page(
            ROOT / "pages" / script,
            title=texts.PAGES[name][0],
            icon=icon,
            url_path=name,
            default=name == "tokens",
        )
        for name, (script, icon) in SCRIPTS.items()
    ]
    chosen = st.navigation(pages, expanded=True)  # no page hides behind "View 3 more"
    try:
        with frame.guard():
            sidebar.draw()
            chosen.run()
    finally:  # a page that ends early has done it in frame.end_page
        state.sync_url()


main()
