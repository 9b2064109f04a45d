"""Where a token gets its information from, in a notebook."""

from bertcore import Model, Trace
from bertcore.analysis.mixing.flow import attention_rollout
from bertcore.analysis.mixing.maps import normalize_rows
from bertcore.analysis.mixing.norm_weighted import block_norms, weighted_norms
from bertcore.analysis.mixing.value_zeroing import value_zeroing
from bertscope.notebook.notebook_view import (
    NotebookView,
    app_module,
    check_heads,
    check_index,
    make_trace_view,
    opening,
)

_MIXING = """{opening}
from bertcore.analysis.mixing.maps import normalize_rows
from bertcore.analysis.mixing.norm_weighted import block_norms, weighted_norms
from bertcore.analysis.mixing.flow import attention_rollout
from bertcore.analysis.mixing.value_zeroing import value_zeroing

layer, head, token = {layer}, {head}, {token}
norms = block_norms(bert, trace)
maps = {{
    "weights": trace.attentions[layer].{heads},
    "norms": {norms},
    "block": norms.normalized[layer],
    "zeroing": value_zeroing(bert, trace)[layer],
    "rollout": attention_rollout(trace.attentions, head=head)[layer],
}}
row = {{name: normalize_rows(values.float())[token] for name, values in maps.items()}}  # [T] each
"""


def show_mixing(
    bert: Model,
    trace: Trace,
    token: int,
    *,
    layer: int | None = None,
    head: int | None = None,
    height: int | None = None,
) -> NotebookView:
    """Show where a token gets its information from, by attention and by measures beyond it.

    Those of the page "How tokens mix" that need no output to differentiate: weights, norms, norms
    with residual and LayerNorm, value zeroing, rollout.

    Args:
        token: Position of the token that receives.
        layer: Which; one in the middle if not given.
        head: One head for weights, norms and rollout; all together if not given.
        height: Of the frame, in pixels; as high as it needs if not given.

    ValueError if there is no such token, layer or head.
    """
    num_layers = len(trace.attentions)
    layer = num_layers // 2 if layer is None else layer
    check_heads(trace, [layer], [] if head is None else [head])
    check_index("token", token, trace.num_tokens, "the text has tokens")
    heads = slice(None) if head is None else slice(head, head + 1)
    norms = block_norms(bert, trace)
    summed = norms.summed[layer] if head is None else weighted_norms(bert, trace)[layer, head]
    maps = {
        "weights": trace.attentions[layer, heads].float().mean(0),
        "norms": summed,
        "block": norms.normalized[layer],
        "zeroing": value_zeroing(bert, trace)[layer],
        "rollout": attention_rollout(trace.attentions, head=head)[layer],
    }
    rows = {name: normalize_rows(values.float())[token].numpy() for name, values in maps.items()}
    figures, chart = app_module("app.mixing.figures"), app_module("app.html_file.chart")
    in_layer = {name: row for name, row in rows.items() if name != "rollout"}
    groups = {
        f"In layer {layer}": in_layer,
        f"From the text up to layer {layer}": {"rollout": rows["rollout"]},
    }
    one_token = figures.OneToken(groups, trace.tokens, token)
    fig, table = figures.strips(one_token), chart.table_of(figures.strips_table(one_token))
    code = _MIXING.format(
        opening=opening(bert, trace),
        layer=layer,
        token=token,
        head=head,
        norms="norms.summed[layer]" if head is None else "weighted_norms(bert, trace)[layer, head]",
        heads="mean(0)" if head is None else "select(0, head)",
    )
    title = f"Where \u201c{trace.tokens[token][:40]}\u201d (token {token}) gets its information"
    fits = int(fig.height or 420)
    how = app_module("app.mixing.views").ONE_TOKEN.how
    return make_trace_view(
        trace, bert, title, chart.chart(fig), code, how, height or fits, table=table
    )
