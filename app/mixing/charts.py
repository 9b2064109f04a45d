"""How far the measures agree, and how [SEP] fades from one to the next."""

from __future__ import annotations

from bertcore.analysis.mixing.maps import rank_agreement

from ..shell import frame
from ..shell.cache import Texts
from ..shell.picture import Picture
from . import measures
from .chart_figures import (
    Agreement,
    agreement,
    agreement_table,
    separator_fade,
    separator_table,
)
from .choices import ALL
from .measures import Choice, MixingMaps
from .python_shown import maps_code

AGREEMENT = Picture(
    name="mixing-agreement",
    figure=agreement,
    table=agreement_table,
    how=(
        "Spearman's rank correlation between every two strips above (over all rows, if every token "
        "is shown): 1 means the same order of tokens, 0 none in common, below 0 rather the "
        "opposite."
    ),
    code="""
from bertcore.analysis.mixing.maps import rank_agreement

rows = {rows}
rank_agreement([normalize_rows(values.float())[rows].numpy() for values in maps.values()])  # [M, M]
""",
)
SEPARATOR = Picture(
    name="mixing-sep",
    figure=separator_fade,
    table=separator_table,
    how=(
        "A head that finds nothing else may attend to \\[SEP\\] (Clark et al. 2019): the weight "
        "is large, but the vector that it moves is short (Kobayashi et al. 2020). The lower the "
        "other lines, the less effect these weights have. Dots are heads. The fraction of a token "
        "after attention that comes from other tokens (mixing ratio, layer by layer): {ratios}."
    ),
    code="""
from bertcore.analysis.mixing.maps import fraction_on
from bertcore.analysis.mixing.norm_weighted import block_norms, weighted_norms

separators = [i for i, text in enumerate(trace.text_ids) if text < 0][1:]
blocks = block_norms(bert, trace)
fraction_on(trace.attentions, separators)              # [L, H]
fraction_on(weighted_norms(bert, trace), separators)   # [L, H]
fraction_on(blocks.normalized, separators)             # [L]
blocks.mixing_ratio.mean(-1)                        # [L]
""",
)


def show_agreement(page: frame.Page, choice: Choice, view: str, mixing: MixingMaps) -> None:
    """Draw how far the measures rank the tokens alike."""
    agreed = Agreement(list(mixing.maps), rank_agreement(list(mixing.maps.values())))
    rows = "slice(None)" if view == ALL else "[token]"
    AGREEMENT.show(page, agreed, setup=maps_code(page, choice), rows=rows)


def show_separator(page: frame.Page, where: Texts) -> None:
    """Draw how much comes from [SEP] in the weights, the norms, and after the residual."""
    separator_fractions = measures.separator_fractions(where)
    ratios = ", ".join(f"{ratio:.0%}" for ratio in separator_fractions.mixing_ratio)
    SEPARATOR.show(page, separator_fractions, drawn={"separator": page.marks.others}, ratios=ratios)
