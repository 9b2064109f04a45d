"""Layer map: points that travel through the layers."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="layer-map",
    title="Layer map",
    purpose="Which words does BERT see as alike, layer by layer?",
    icon=":material/scatter_plot:",
)
