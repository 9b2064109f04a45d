"""One HTML file in which a BERT reads what a visitor types: no server, no network."""

import base64
import datetime
import hashlib
import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from bertcore import Bert

from ..bundle import read_bundle
from ..canvas.heat_map import heat_map
from ..canvas.lines import lines
from ..canvas.overview import overview
from ..canvas.shared import transport
from ..html_file import document
from ..plots import theme
from ..shell.sentence_box import DEFAULT, EXAMPLES
from ..token_strip import token_strip, word_steps
from .weights import FORMS, Stored, pack_weights

__all__ = ["FORMS", "Stored", "live_file"]

HERE = Path(__file__).parent
_TEMPLATE = Environment(
    loader=FileSystemLoader(HERE),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=lambda value: document.legible(value) if type(value) is str else value,
).get_template("live_file.html.jinja")


def live_file(bert: Bert, stored: Stored = "int8", *, source: str = "") -> str:
    """Return the file.

    Args:
        bert: A BERT with WordPiece and at most 12 layers.
        stored: Form of its matrices: "int8", "float16" or "float32".
        source: Name under which it was opened, for the examples that are its own.

    Raises:
        ValueError: If the browser cannot compute this checkpoint.
    """
    weights = pack_weights(bert, stored)
    settings = _settings(bert, source) | {"hash": hashlib.sha256(weights).hexdigest()}
    worker = read_bundle(HERE / "worker").script + "bundle.default(self);"
    bundle = read_bundle(HERE / "live")
    script = bundle.script + "bundle.default(document.getElementById('live'));"
    for text in (worker, script):
        if "</script" in text.lower() or "<!--" in text:
            raise ValueError("a bundle contains '</script' or '<!--', which would end the script.")
    return _TEMPLATE.render(
        name=bert.name,
        policy=Markup(
            f"default-src 'none'; script-src {document.hash_of(script)}; worker-src blob:; "
            "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
        ),
        css=Markup(_style(document.HERE / "document.css") + _style(HERE / "live.css")),
        intro="Type a sentence: the network computes in your browser. Nothing is sent anywhere.",
        facts=_facts(bert, stored),
        settings=Markup(json.dumps(settings).replace("<", "\\u003c")),
        worker=Markup(worker),
        weights=Markup(base64.b64encode(weights).decode()),
        script=Markup(script),
    )


def _style(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _facts(bert: Bert, stored: Stored) -> dict[str, str]:
    config = bert.config
    return {
        "Checkpoint": bert.name,
        "Network": f"{config.num_hidden_layers} layers of {config.num_attention_heads} heads, "
        f"{config.hidden_size} dimensions, {bert.tokenizer.vocab_size:,} word pieces",
        "Weights": _STORED[stored],
        "Made": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC with BertScope",
    }


_STORED = {
    "float32": "float32",
    "float16": "float16, computed in float32",
    "int8": "8 bits each with a scale for every 64, computed in float32: on the default "
    "checkpoint, 99 of 100 first guesses are the same; probabilities differ by at most 5 points",
}


def _settings(bert: Bert, source: str) -> dict[str, Any]:
    """Return what `live.ts` reads beside the weights."""
    own = [example for example in EXAMPLES if example.checkpoint == source and source]
    usual = [] if own else [DEFAULT, *(e for e in EXAMPLES if not e.checkpoint and e != DEFAULT)]
    views = {
        "strip": token_strip.COMPONENT,
        "steps": word_steps.COMPONENT,
        "overview": overview.COMPONENT,
        "lines": lines.COMPONENT,
        "map": heat_map.COMPONENT,
    }
    return {
        "kinds": {"a": theme.SEGMENT_A, "b": theme.SEGMENT_B, "special": theme.SPECIAL},
        "accent": theme.ACCENT,
        "head_colours": lines.head_colours(bert.config.num_attention_heads),
        "colours": overview.colour_table().flatten().tolist(),
        "decoding": transport.decoding_table().tolist(),
        "names": {name: described._asdict() for name, described in overview.NAMES.items()},
        "overview": overview.DEFAULT_OPTIONS,
        "lines": lines.DEFAULT_OPTIONS,
        "map": heat_map.DEFAULT_OPTIONS,
        "styles": {name: component.bundle.style for name, component in views.items()},
        "examples": [
            {"name": e.title, "first": e.text_a, "second": e.text_b or None} for e in own or usual
        ],
    }
