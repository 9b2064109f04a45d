"""BertViz's own head, model and neuron views, as people know them, without network access.

Two things are changed on the way. The page that BertViz writes asks three other hosts for
require.js, jQuery and d3; here d3 comes from an installed package, and a few lines stand in for
require.js and for what is asked of jQuery. And it writes tokens into a script as they are, so that
a token `</script>` ends it; here BertViz never sees the tokens: it gets harmless names, which are
replaced afterwards by escaped strings.

Source: bertviz 1.4 (Apache-2.0), https://github.com/jessevig/bertviz, used as installed.
"""

import base64
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

from torch import Tensor

from bertcore.analysis.heads.attention import AllNeurons, InputTokens, LayerAttention

from ..bundle import read_bundle
from ..html_file.document import ScriptedPicture, hash_of

HEAD_VIEW_TOKENS = 64
MODEL_VIEW_TOKENS = 32
"""BertViz draws an SVG line for every weight, so it gets slow: 12 x 12 heads and 64 tokens are
50,000 lines for each layer in the head view, 32 tokens are 147,000 in the model view, at once."""

MOST_TOKENS = 48
MOST_NUMBERS = 1_500_000
"""Queries and keys of all layers and heads are in the page, 7 characters for each number."""

# Pixels of a token, of what is above and below, and of all columns, as neuron_view.js has them.
_ROW, _AROUND, _WIDE = 26, 150, 1040

DECIMALS = 4
"""Of the numbers that are sent; BertViz would write every digit, 22 characters for each."""
D3 = "_internal/plotting/third_party/d3/d3.v7.min.def.js"
# Nothing that BertViz writes looks like it; the number is the token's place.
_NAME = re.compile(r'"bertscope-token-(\d+)-"')

# Stands in for require.js, by which the copy of d3 is defined; the file, for all that comes after.
_DEFINE = """
window.require = { defined: function () { return false; } };
window.define = function (name, needs, make) { make(window.d3 = {}); };
"""
_STAND_IN = Path(__file__).with_name("stand_in.js")

# The second wall after escaping: the frame may run its scripts and may send no request.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True, slots=True)
class BertvizView:
    """A page of BertViz and what it shows."""

    html: str
    height: int
    """In pixels."""
    shown: int
    """Number of tokens shown: the first ones."""
    total: int
    """Number of tokens of the text."""

    def part(self) -> ScriptedPicture:
        """Return it as a part of an HTML file: BertViz's page in a frame."""
        # A frame of the same file is subject to the file's policy too: scripts by their hashes.
        scripts = re.findall(r"<script[^>]*>(.*?)</script>", self.html, re.S)
        script = read_bundle(Path(__file__).with_name("framed")).script
        note = ""
        if self.shown < self.total:
            note = f"BertViz shows the first {self.shown} of {self.total} tokens."
        return ScriptedPicture(
            script=f"{script}bundle.default(%PLACE%, %DATA%, {self.height});\n",
            data=[base64.b64encode(self.html.encode("utf-8", "replace")).decode()],
            note=note,
            extra_hashes=[hash_of(script) for script in scripts],
        )


KINDS = {"head": "Head view", "model": "Model view", "neuron": "Neuron view"}


def view_of(shown: LayerAttention | AllNeurons, kind: str = "head") -> BertvizView:
    """Return one of BertViz's views: the neuron view of queries and keys, else `kind` of KINDS.

    The head view opens on the layer and heads that are looked at.
    """
    if isinstance(shown, AllNeurons):
        return neuron_view(shown)
    tokens, second = shown.input.tokens, _second_start(shown.input)
    if kind == "model":
        return model_view(shown.attentions, tokens, second_start=second)
    return head_view(
        shown.attentions, tokens, second_start=second, layer=shown.layer, heads=shown.heads
    )


def part(shown: LayerAttention | AllNeurons, kind: str = "head") -> ScriptedPicture:
    """Return the same as a part of an HTML file."""
    return view_of(shown, kind).part()


def _second_start(tokens: InputTokens) -> int | None:
    return tokens.text_ids.index(1) if tokens.is_pair else None


def head_view(
    attentions: Tensor,
    tokens: Sequence[str],
    *,
    second_start: int | None = None,
    layer: int = 0,
    heads: Sequence[int] = (),
) -> BertvizView:
    """Return BertViz's head view of the first `HEAD_VIEW_TOKENS` tokens.

    Args:
        attentions: [L, H, T, T].
        tokens: T strings; any text.
        second_start: Index of the first token of text B; it adds BertViz's sentence filter.
        layer, heads: Shown at first; no heads for all.
    """
    from bertviz import head_view as draw

    shown = min(len(tokens), HEAD_VIEW_TOKENS)
    second = second_start if second_start is not None and second_start < shown else None
    html = _draw(draw, attentions, tokens, shown, second, layer=layer, heads=list(heads) or None)
    return BertvizView(html, round(shown * 22.5) + 110, shown, len(tokens))


def model_view(
    attentions: Tensor, tokens: Sequence[str], *, second_start: int | None = None
) -> BertvizView:
    """Return BertViz's model view of the first `MODEL_VIEW_TOKENS` tokens; arguments as above."""
    from bertviz import model_view as draw

    shown = min(len(tokens), MODEL_VIEW_TOKENS)
    second = second_start if second_start is not None and second_start < shown else None
    html = _draw(draw, attentions, tokens, shown, second, display_mode="light")
    num_layers, num_heads = attentions.shape[:2]
    thumbnail = shown * 7 * 12 / num_heads + 10  # as model_view.js has it
    detail = shown * 18 + 60
    height = round(max(num_layers * thumbnail, detail)) + 130
    return BertvizView(html, height, shown, len(tokens))


def _draw(
    draw: Callable[..., Any],
    attentions: Tensor,
    tokens: Sequence[str],
    shown: int,
    second_start: int | None,
    **options: Any,
) -> str:
    weights = attentions[:, :, :shown, :shown].detach().double().round(decimals=DECIMALS)
    written = draw(
        attention=[layer[None] for layer in weights],
        tokens=stand_ins(shown),
        sentence_b_start=second_start,
        html_action="return",
        **options,
    ).data
    return page_of(written, tokens)


def neuron_view(shown: AllNeurons) -> BertvizView:
    """Return BertViz's neuron view of the first tokens: `MOST_TOKENS`, fewer of large checkpoints.

    BertViz's own function takes the model classes of 2019; this one takes any queries and keys.
    """
    from bertviz import neuron_view as module

    total, second = len(shown.input.tokens), _second_start(shown.input)
    num_layers, num_heads, _, width = shown.queries.shape
    # A pair stores everything twice: for the whole, and for each side.
    each = 2 * num_layers * num_heads * width * (1 if second is None else 3)
    number = min(total, MOST_TOKENS, max(8, MOST_NUMBERS // each))
    if second is not None and second >= number:
        second = None
    data = _filters(shown, number, second)
    # BertViz's own function with our numbers instead of what it reads from its own models; a
    # copy, since a changed module would be changed for everybody in the process.
    names = {**module.show.__globals__, "get_attention": lambda *_, **__: data}
    show = FunctionType(module.show.__code__, names, argdefs=module.show.__defaults__)
    written = show(
        None,
        "bert",
        None,
        "A",
        None if second is None else "B",  # with it, the sentence filter is there
        display_mode="light",
        layer=shown.layer,
        head=shown.head,
        html_action="return",
    ).data
    html = page_of(written, shown.input.tokens, min_width=_WIDE)
    return BertvizView(html, _ROW * number + _AROUND, number, total)


def _filters(shown: AllNeurons, number: int, second: int | None) -> dict[str, dict[str, Any]]:
    """Return what BertViz's `get_attention` does: the numbers of each of its sentence filters."""
    sides = {"a": slice(0, number if second is None else second)}
    if second is not None:
        sides["b"] = slice(second, number)
    parts = {"all": (slice(0, number), slice(0, number))}
    if second is not None:
        parts |= {x + y: (sides[x], sides[y]) for x in sides for y in sides}
    names = stand_ins(number)
    return {
        name: {
            "attn": _lists(shown.attentions[:, :, rows, columns]),
            "left_text": names[rows],
            "right_text": names[columns],
            "queries": _lists(shown.queries[:, :, rows]),
            "keys": _lists(shown.keys[:, :, columns]),
        }
        for name, (rows, columns) in parts.items()
    }


def _lists(numbers: Tensor) -> list[Any]:
    rounded: list[Any] = numbers.detach().double().round(decimals=DECIMALS).tolist()
    return rounded


def stand_ins(num_tokens: int) -> list[str]:
    """Return the harmless names that BertViz gets instead of tokens."""
    return [f"bertscope-token-{place}-" for place in range(num_tokens)]


def page_of(written: str, tokens: Sequence[str], *, min_width: int = 0) -> str:
    """Return what BertViz wrote for `stand_ins` as a whole page, safe to put into a frame.

    Args:
        written: Markup and scripts.
        tokens: What takes the names' places.
        min_width: In pixels; a narrower picture is scrolled, not cut.
    """
    body = _without_hosts(written)
    body = _NAME.sub(lambda match: _as_string(tokens[int(match[1])]), body)
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        # BertViz's labels are black whatever the theme: it gets its own white background.
        "<style>html{color-scheme:light}body{background:#fff;color:#000;margin:12px;"
        f"overflow:auto;font-family:sans-serif}}#vis>svg{{min-width:{min_width}px}}</style>"
        f"<script>{libraries()}</script></head><body>{body}</body></html>"
    )


def _without_hosts(page: str) -> str:
    """Return BertViz's page without its requests and without its second copy of the weights."""
    page = re.sub(r'<script src="https?://[^"]*"></script>', "", page)
    page = re.sub(r"require\.config\(\{.*?\}\s*\}\);", "", page, flags=re.S)
    page = re.sub(r"/\*\*.*?\*/", "", page, count=1, flags=re.S)
    # `const params = {...}; // HACK: {...} is a ...`: the comment repeats all weights.
    return re.sub(r"; *// HACK: .*", ";", page)


def _as_string(token: str) -> str:
    """Return a token as a JavaScript string that cannot end the script around it.

    >>> _as_string("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(token)  # ASCII only, so U+2028 and U+2029 are escaped already
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@cache
def libraries() -> str:
    """Return the script of d3 as installed, and of what stands in for jQuery and require.js.

    RuntimeError if the package that carries it is missing or does not contain the file.
    """
    spec = find_spec("gravis")
    for folder in (spec and spec.submodule_search_locations) or ():
        file = Path(folder) / D3
        if file.is_file():
            # A library could contain the letters that end a script; today's do not.
            d3 = file.read_text(encoding="utf-8").replace("</script", "<\\/script")
            return f"{_DEFINE}{d3}\n{_STAND_IN.read_text(encoding='utf-8')}"
    raise RuntimeError(
        f"BertViz's views need {D3} of the package gravis, which is not installed here. "
        "Run: pip install gravis"
    )
