"""BertScope beside the app and the command: `bertscope.notebook` shows its views in notebooks.

The numbers are in `bertcore`, which draws nothing.
"""
