"""BertScope beside the app and the command: `bertscope.notebook` shows its views in notebooks.

The numbers are in `bertcore`, which draws nothing.
"""

__all__ = (
    "app_modules attention_views bertviz heads minimal_pair mixing notebook notebook_view what_if"
).split()
