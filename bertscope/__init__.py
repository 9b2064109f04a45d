"""The `bertscope` command, and BertScope's views in notebooks; a wheel carries the app in it too.

The numbers are in `bertcore`, which draws and prints nothing.
"""

from typing import TYPE_CHECKING

from bertcore.base.public import deferred

if TYPE_CHECKING:
    from bertscope import notebook
    from bertscope.app_root import find_app_root
    from bertscope.notebook.show import show
else:
    __getattr__, __dir__, __all__ = deferred(__name__, __file__)
