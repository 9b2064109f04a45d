"""Layer map: points that travel through the layers."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="layer-map",
    title="Layer map",
    purpose="The same words as points, layer by layer: watch meanings move together and apart.",
    icon=":material/scatter_plot:",
)
