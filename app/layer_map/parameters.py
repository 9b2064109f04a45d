"""The parameters of a map's method: its widgets and the fields that keep them."""

from typing import Any, NamedTuple

from bertcore.analysis.space.neighbour_embedding import EXAGGERATED_STEPS
from bertcore.analysis.space.projection import Settings
from bertcore.configs.maps import METRICS, STARTS, PacmapSettings, TsneSettings, UmapSettings

from ..shell import Field

HELP = {
    "neighbors": (
        "Size of a point's neighbourhood: a small one shows detail, a large one the whole."
    ),
    "min_dist": "How close points may be in the map.",
    "perplexity": "Effective number of a point's neighbours; less than the number of points.",
    "exaggeration": (
        f"Multiplies the attraction in the first {EXAGGERATED_STEPS} steps: a large value draws "
        "groups together before they are laid out."
    ),
    "learning_rate": "0 for auto: the number of points divided by the exaggeration.",
    "n_iter": f"Steps after the {EXAGGERATED_STEPS} with early exaggeration.",
    "initialization": "pca: groups are arranged as in PCA. random: their arrangement is chance.",
    "pacmap_neighbors": "Nearest points that attract a point; fewer if there are few points.",
    "mn_ratio": "Mid-near pairs per neighbour: they set the overall arrangement first.",
    "fp_ratio": "Further pairs, which repel, per neighbour.",
    "metric": "Distance between vectors; the faithfulness of the map is measured by it too.",
}
"""What is said of a parameter, by its field."""


class Number(NamedTuple):
    """A number among the parameters."""

    name: str
    """Its name in the settings, and its label."""
    field: str
    """Name in the address, after the map's own prefix."""
    default: float
    low: float
    high: float
    step: float | None = None
    is_typed: bool = False
    """Whether it is typed and not chosen by a slider."""


class Word(NamedTuple):
    """A parameter that is one of a few words, by default the first."""

    name: str
    options: tuple[str, ...]

    @property
    def field(self) -> str:
        """Name in the address, after the map's own prefix."""
        return self.name


OWN: dict[str, tuple[Number | Word, ...]] = {
    "pca": (),
    "umap": (
        Number("n_neighbors", "neighbors", 15, 2, 100),
        Number("min_dist", "min_dist", 0.1, 0.0, 1.0),
    ),
    "tsne": (
        Number("perplexity", "perplexity", 30.0, 2.0, 200.0, 1.0),
        Number("early_exaggeration", "exaggeration", 12.0, 1.0, 50.0, 1.0),
        Number("learning_rate", "learning_rate", 0.0, 0.0, 100_000.0, 50.0, is_typed=True),
        Number("n_iter", "n_iter", 500, 50, 2000, 50),
        Word("initialization", STARTS),
    ),
    "pacmap": (
        Number("n_neighbors", "pacmap_neighbors", 10, 2, 100),
        Number("MN_ratio", "mn_ratio", 0.5, 0.0, 5.0, 0.1),
        Number("FP_ratio", "fp_ratio", 2.0, 0.5, 20.0, 0.5),
    ),
}
"""The parameters of each method."""
SHARED = (Word("metric", METRICS), Number("seed", "seed", 0, 0, 2**31, is_typed=True))


def choose_parameters(where: Any, method: str, prefix: str) -> Settings:
    """Draw the parameters of a method; return them.

    Args:
        where: A container, or Streamlit itself.
        method: One of METHODS. PCA has no parameter: its UmapSettings hold the metric by which it
            is measured.
        prefix: Begins the names of the fields.
    """
    chosen = {each.name: _choose(where, each, prefix) for each in (*OWN[method], *SHARED)}
    if method == "tsne":
        return TsneSettings(**chosen)
    return PacmapSettings(**chosen) if method == "pacmap" else UmapSettings(**chosen)


def _choose(where: Any, parameter: Number | Word, prefix: str) -> Any:
    name, shown = f"{prefix}_{parameter.field}", {"help": HELP.get(parameter.field)}
    if isinstance(parameter, Word):
        options = parameter.options
        key = Field(name, options[0], options).key()
        return where.selectbox(parameter.name, options, key=key, **shown)
    default, low, high = parameter.default, parameter.low, parameter.high
    if isinstance(default, float) and parameter.step is not None:
        shown["format"] = "%g"
    draw = where.number_input if parameter.is_typed else where.slider
    key = Field(name, default).key(low=low, high=high)
    return type(default)(draw(parameter.name, low, high, step=parameter.step, key=key, **shown))
