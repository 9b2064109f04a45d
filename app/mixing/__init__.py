"""How tokens mix: where a token's information comes from, by measures beyond the raw weights."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="mixing",
    title="How tokens mix",
    purpose=(
        "Where a token's information comes from: what attention weights show, and what they hide."
    ),
    icon=":material/blender:",
)
