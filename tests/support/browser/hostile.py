"""Texts that want to harm, or that are odd."""

IMAGE = "<img src=x onerror=window.__pwned=1>"
SCRIPT = f"</script>{IMAGE}"
MARKUP = "![a](http://foreign.invalid/a.png) [b](javascript:window.__pwned=1) $x$ :smile: **c**"
SIGNS = "שלום \u202eolleh\u202c 👩\u200d👩\u200d👧 fi\u200bsh nul\0nul e\u0301"
NOT_SEEN = "\u200b\u200d"
LONG = "river " * 600
