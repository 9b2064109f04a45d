"""A BERT that reads what a visitor types: one HTML file, or a static site. No server computes."""

import base64
import datetime
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from bertcore import Bert
from bertcore.analysis.words.surprise import example_mask
from bertcore.model.checkpoints.source import DEFAULT as DEFAULT_SOURCE

from ..parts.bundle import read_bundle
from ..parts.canvas.heat_map import heat_map
from ..parts.canvas.lines import lines
from ..parts.canvas.overview import overview
from ..parts.canvas.shared import transport
from ..parts.door import door
from ..parts.html_file import document
from ..parts.token_strip import token_strip, word_steps
from ..parts.walk import drawing, steps, summary
from ..plots import marks_of, theme
from ..shell.sentence_box import DEFAULT, EXAMPLES, Example
from .lessons import guide
from .weights import FORMS, Stored, pack_weights

__all__ = ["FORMS", "PAGES", "Stored", "live_file", "live_site"]

PAGES = ("glance", "tokens", "attention", "masked-words", "pairs")
"""What a file can show, by the names of the app's pages."""

HERE = Path(__file__).parent
_DOOR: dict[str, Any] = json.loads(door.FIRST.read_text(encoding="utf-8"))["en"]
_DOOR_TEXT = Example("Meaning", "A gap", _DOOR["text"])
_TEMPLATE = Environment(
    loader=FileSystemLoader(HERE),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=lambda value: document.legible(value) if type(value) is str else value,
).get_template("live_file.html.jinja")


def live_file(
    bert: Bert, stored: Stored = "rounded", *, source: str = "", pages: Sequence[str] = PAGES
) -> str:
    """Return the file.

    Args:
        bert: A BERT with WordPiece and at most 12 layers.
        stored: Form of its matrices: "rounded", "float16" or "float32".
        source: Name under which it was opened, for the examples that are its own.
        pages: What it shows, in this order.

    ValueError if the browser cannot compute this checkpoint, or there is no such page.
    """
    weights = pack_weights(bert, stored)
    held = {"worker": Markup(_worker()), "weights": Markup(base64.b64encode(weights).decode())}
    return _page(bert, stored, _settings(bert, source, pages, weights), held)


def live_site(
    bert: Bert, stored: Stored = "rounded", *, source: str = "", pages: Sequence[str] = PAGES
) -> dict[str, bytes]:
    """Return the same and lessons as files of a static site: index.html, worker and weights.

    The name of each but the first has the hash of its content, so that a browser may keep it.
    The arguments and errors are those of `live_file`.
    """
    weights, worker = pack_weights(bert, stored), _worker().encode()
    names = {"worker": f"worker.{_hash(worker)}.js", "weights": f"weights.{_hash(weights)}.bin"}
    settings = _settings(bert, source, pages, weights)
    settings["files"] = names | {"size": len(weights)}
    settings["guide"] = guide(bert, pages)
    index = _page(bert, stored, settings, {"worker": "", "weights": ""})
    return {"index.html": index.encode(), names["worker"]: worker, names["weights"]: weights}


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _worker() -> str:
    return _closed(read_bundle(HERE / "worker").script + "bundle.default(self);")


def _closed(script: str) -> str:
    """Return a script that can stand in a page."""
    if "</script" in script.lower() or "<!--" in script:
        raise ValueError("a bundle contains '</script' or '<!--', which would end the script.")
    return script


def _page(
    bert: Bert, stored: Stored, settings: Mapping[str, Any], held: Mapping[str, Markup | str]
) -> str:
    """Return the page; what is `held` in it is empty where it is in files of a site."""
    script = _closed(read_bundle(HERE / "live").script + "bundle.default();")
    css = _style(document.HERE / "document.css") + _style(HERE / "live.css")
    # A worker that the page makes has its policy, where this word allows WebAssembly and nothing
    # else; one that is a file of a site has the policy that its server sends.
    scripts, sources = f"{document.hash_of(script)} 'wasm-unsafe-eval'", "worker-src blob:"
    if settings["files"]:
        scripts, sources = document.hash_of(script), "worker-src 'self'; connect-src 'self'"
    return _TEMPLATE.render(
        name=bert.name,
        policy=Markup(
            f"default-src 'none'; script-src {scripts}; {sources}; "
            f"style-src {document.hash_of(css)}; img-src data: blob:; base-uri 'none'; "
            "form-action 'none'"
        ),
        css=Markup(css),
        intro="Type a sentence: the network computes in your browser. Nothing is sent anywhere.",
        facts=_facts(bert, stored),
        settings=Markup(json.dumps(settings).replace("<", "\\u003c")),
        script=Markup(script),
        **held,
    )


def _style(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _facts(bert: Bert, stored: Stored) -> dict[str, str]:
    config = bert.config
    return {
        "Checkpoint": bert.name,
        "Network": f"{config.num_hidden_layers} layers of {config.num_attention_heads} heads, "
        f"{config.hidden_size} dimensions, {bert.tokenizer.vocab_size:,} word pieces",
        "Heads": heads(bert),
        "Weights": _STORED[stored],
        "Made": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC with BertScope",
    }


def heads(bert: Bert) -> str:
    """Return what the network answers with, as a phrase."""
    names = {"mlm": "masked words", "nsp": "next sentence"}
    own = [name for ability, name in names.items() if ability in bert.capabilities]
    return " and ".join(own) or (
        "none for masked words or next sentence; what a fine-tuned head answers is left out, and "
        "the network below it is shown"
    )


_STORED = {
    "float32": "float32",
    "float16": "float16, computed in float32",
    "rounded": "rounded to a 92nd of their size, 8.6 bits each, computed in float32: on the "
    "default checkpoint, of 2,001 hidden words 99.3% have the same first guess; probabilities "
    "differ by 0.2 points on average and by 1.5 at most",
}


def _settings(bert: Bert, source: str, pages: Sequence[str], weights: bytes) -> dict[str, Any]:
    """Return what `live.ts` reads beside the weights."""
    unknown = [page for page in pages if page not in PAGES]
    if unknown or not pages:
        what = repr(unknown[0]) if unknown else "empty"
        raise ValueError(f"pages is {what}; expected some of {', '.join(PAGES)}.")
    own = [example for example in EXAMPLES if example.checkpoint == source and source]
    usual = [] if own else [DEFAULT, *(e for e in EXAMPLES if not e.checkpoint and e != DEFAULT)]
    usual[:0] = [_DOOR_TEXT] if source == DEFAULT_SOURCE else []
    views = {
        "door": door.COMPONENT,
        "glance": drawing.COMPONENT,
        "strip": token_strip.COMPONENT,
        "steps": word_steps.COMPONENT,
        "overview": overview.COMPONENT,
        "lines": lines.COMPONENT,
        "map": heat_map.COMPONENT,
    }
    return {
        "hash": hashlib.sha256(weights).hexdigest(),
        "files": None,
        "guide": [],
        "pages": [*dict.fromkeys(pages)],
        "door": _door(bert, source),
        "glance": _glance(bert),
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
            {
                "name": e.title,
                "first": e.text_a,
                "second": e.text_b or None,
                "hidden": _hidden(bert, e),
            }
            for e in own or usual
        ],
    }


def _hidden(bert: Bert, example: Example) -> list[int] | None:
    """Return the word that the app hides; None if it hides none, as beside a typed [MASK]."""
    if example is _DOOR_TEXT:
        return list(_DOOR["hidden"])
    text_a, text_b = example.text_a, example.text_b or None
    encoding = bert.tokenize(text_a, text_b)
    is_typed = bert.tokenizer.mask_id in encoding.input_ids
    has_word = any(text >= 0 for text in encoding.text_ids)
    if is_typed or not has_word or not {"mlm", "mask"} <= bert.capabilities:
        return None
    return [example_mask(bert, text_a, text_b)]


def _door(bert: Bert, source: str) -> dict[str, Any] | None:
    """Return what the door has of all texts; None if the network guesses no words."""
    if not {"mlm", "mask"} <= bert.capabilities:
        return None
    by = {} if source == DEFAULT_SOURCE else {"by": [(f"Guesses of {bert.name}.", "")]}
    return {name: _DOOR[name] for name in ("title", "line", "names", "by")} | by


def _glance(bert: Bert) -> dict[str, Any]:
    """Return what BERT at a glance has of the checkpoint, not of the text."""
    can_hide = {"mlm", "mask"} <= bert.capabilities
    glance = summary.summarize(bert, "a", "a", (1,) if can_hide else ())
    return {
        "outline": [step._asdict() for step in steps.outline(bert, glance)],
        "phrases": steps.PHRASES,
        "fixed": steps.fixed_values(bert, marks_of(bert.tokenizer)),
        "parts": steps.names_of_parts(bert, glance),
        "absent": drawing.absent_of(bert, glance),
        "no_word": drawing.NO_WORD,
        "diverging": theme.diverging_bytes().flatten().tolist(),
    }
