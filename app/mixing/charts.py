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
from .choices import ALL, OTHERS
from .measures import Choice, MixingMaps
from .views import setup_code

AGREEMENT = Picture(
    name="mixing-agreement",
    figure=agreement,
    table=agreement_table,
    how=(
        "Spearman's rank correlation between each pair of measures above: 1 means the same order "
        "of tokens, 0 no relation, below 0 rather the opposite order. For *Every token* it is the "
        "mean over the rows, without those in which a measure gives all tokens the same value."
    ),
    code="""
from bertcore.analysis.mixing.maps import rank_agreement

fractions = [normalize_rows(values.float()) for values in maps.values()]
agreement = rank_agreement([({ranked}).numpy() for values in fractions])  # [M, M]
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
    """Draw how far the measures rank the tokens alike.

    Args:
        page, choice, view: What to measure.
        mixing: The numbers as they are drawn. A token that is left out of its own row has no rank
            there: 0 in every measure would count as agreement.
    """
    maps, ranked = list(mixing.maps.values()), "values"
    if OTHERS.value and page.trace.num_tokens > 1:
        tokens = range(page.trace.num_tokens) if view == ALL else [choice.token]
        maps = [measures.other_tokens(values, tokens) for values in maps]
        ranked = "values[is_other].view(len(is_other), -1)"
    agreed = Agreement(list(mixing.maps), rank_agreement(maps))
    AGREEMENT.show(page, agreed, setup=setup_code(page, mixing, choice, view), ranked=ranked)


def show_separator(page: frame.Page, where: Texts) -> None:
    """Draw how much comes from [SEP] in the weights, the norms, and after the residual."""
    separator_fractions = measures.separator_fractions(where)
    ratios = ", ".join(f"{ratio:.0%}" for ratio in separator_fractions.mixing_ratio)
    SEPARATOR.show(page, separator_fractions, drawn={"separator": page.marks.others}, ratios=ratios)
