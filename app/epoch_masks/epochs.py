"""Static masks beside dynamic ones over the epochs of a run."""

from __future__ import annotations

from bertcore import Model
from bertcore.analysis.words.epoch_masks import COPIES, epoch_masks
from bertcore.objectives.replacement import ACTIONS, Actions

from ..shell import frame
from ..shell.picture import Picture
from .epochs_figures import BothMasks, epochs_figure, epochs_table

EPOCHS = Picture(
    name="epoch-masks",
    needs=frozenset({"mlm"}),
    figure=epochs_figure,
    table=epochs_table,
    how=(
        "Each row is an epoch, each column a token; coloured places are to be predicted. Static "
        "masks repeat below the line, after {copies} epochs: {static_never} of {num_text} tokens "
        "are never predicted; with dynamic ones, {dynamic_never}. BERT used static masks, RoBERTa "
        "dynamic ones; on its own this changes little (SQuAD 2.0: 78.3 to 78.7 F1, MNLI: 84.3 to "
        "84.0; Liu et al. 2019, table 1). Drawn by the code that trains (--dupe-factor)."
    ),
    code="""
from bertcore.analysis.words.epoch_masks import epoch_masks

text = {text!r}
masking = dict(seed={seed}, masked_lm_prob={share}, actions={actions})
static = epoch_masks(bert, text, dupe_factor={copies}, **masking)
dynamic = epoch_masks(bert, text, dupe_factor=0, **masking)
static.fates > 0, dynamic.fates > 0                # [epochs, T]
""",
)


def show_epochs(
    page: frame.Page, text: str, *, seed: int, share: float, actions: Actions = ACTIONS
) -> None:
    """Draw which tokens of a text are hidden in each epoch.

    Args:
        page: The page.
        text: The document.
        seed, share, actions: Arguments of `epoch_masks`; `share` is its `masked_lm_prob`.
    """
    both: BothMasks = page.compute(_both, text, seed, share, actions)
    EPOCHS.show(
        page,
        both,
        drawn={"mask": page.marks.mask},
        text=text,
        seed=seed,
        share=share,
        copies=COPIES,
        num_text=both.static.num_text,
        static_never=both.static.num_never,
        dynamic_never=both.dynamic.num_never,
        actions=actions,
    )


def _both(bert: Model, text: str, seed: int, share: float, actions: Actions) -> BothMasks:
    static, dynamic = (
        epoch_masks(
            bert, text, seed=seed, masked_lm_prob=share, actions=actions, dupe_factor=copies
        )
        for copies in (COPIES, 0)
    )
    return BothMasks(static, dynamic)
