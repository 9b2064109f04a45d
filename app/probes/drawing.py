"""The drawing of a sentence, a component of ours: tags under the words, trees over them, depths."""

from typing import Any

from bertcore.probes.live import WordLabels, WordTrees

from ..canvas.shared import transport
from ..component import Component
from ..plots import theme

COMPONENT = Component("bertscope_probes", __file__)


def labels_message(found: WordLabels, place: int) -> bytes:
    """Return what the drawing shows of the labels of one layer.

    Args:
        place: Place of the layer in `found.layers`.
    """
    return transport.pack(
        {
            "kind": "labels",
            "layer": found.layers[place],
            "words": found.words,
            "labels": found.labels[place],
            "chances": found.probabilities[place].tolist(),
            "gold": found.gold,
            "colors": _colors(),
        }
    )


def tree_message(found: WordTrees, place: int) -> bytes:
    """Return what the drawing shows of the tree, or the depths, of one layer.

    Args:
        place: Place of the layer in `found.layers`.
    """
    header: dict[str, Any] = {
        "layer": found.layers[place],
        "words": found.words,
        "colors": _colors(),
    }
    if found.edges:
        tree = {"kind": "tree", "edges": found.edges[place], "gold": found.gold_edges}
        return transport.pack({**header, **tree})
    depths = found.depths[place].tolist()
    return transport.pack({**header, "kind": "depth", "depths": depths, "gold": found.gold_depths})


def draw(data: bytes, *, key: str) -> None:
    """Draw the component.

    Args:
        data: From `labels_message` or `tree_message`.
        key: Key of the component in the session.
    """
    COMPONENT(key=key, data=data)


def _colors() -> dict[str, str]:
    return {"right": theme.SEGMENT_A, "wrong": theme.ACCENT, "gold": theme.SPECIAL}
