"""The pages, one folder each.

Streamlit would take a folder `pages` beside `run.py` for scripts of its own.
"""
