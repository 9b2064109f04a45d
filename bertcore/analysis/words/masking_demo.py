"""The masking of pretraining, drawn on one sentence."""

from dataclasses import dataclass

from bertcore.configs.data import MASKED_LM_PROB
from bertcore.model import Model
from bertcore.objectives.masking import mask_text
from bertcore.objectives.replacement import BECAME


@dataclass(frozen=True, slots=True)
class Corruption:
    """One draw of the 80/10/10 procedure; all tuples have length T."""

    tokens: tuple[str, ...]
    """The original sentence."""
    input_tokens: tuple[str, ...]
    """The input of the model, with the replacements."""
    actions: tuple[str | None, ...]
    """"mask", "kept" or "random" for a chosen token, None for the others."""

    @property
    def num_chosen(self) -> int:
        """Number of tokens that the model has to predict."""
        return sum(action is not None for action in self.actions)


def corrupt(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    seed: int = 0,
    masked_lm_prob: float = MASKED_LM_PROB,
) -> Corruption:
    """Hide tokens of a text or pair with the code of pretraining.

    Of the T tokens (special ones counted) round(masked_lm_prob * T), at least one, are chosen;
    each becomes [MASK] with probability 0.8, stays with 0.1, or becomes a random piece with 0.1.

    Args:
        seed: Fixes the draw, 0 or more.
        masked_lm_prob: Fraction of tokens to choose, 0 < p < 1; the paper's is 0.15.

    ValueError if the text has no token, or `masked_lm_prob` is out of range.

    Source: Devlin et al. 2019, section 3.1, by `bertcore.objectives.masking.mask_text`.
    """
    encoding = bert.tokenize(text, text_pair)
    masked = mask_text(
        encoding.input_ids,
        encoding.special_tokens_mask,
        mask_id=bert.tokenizer.mask_id,
        vocab_size=bert.tokenizer.vocab_size,
        seed=seed,
        masked_lm_prob=masked_lm_prob,
    )
    actions: list[str | None] = [None] * len(encoding)
    for position, action in zip(
        masked.positions[0].tolist(), masked.action[0].tolist(), strict=True
    ):
        actions[position] = BECAME[action]
    return Corruption(
        tokens=tuple(encoding.tokens),
        input_tokens=tuple(bert.tokenizer.id_to_token(i) for i in masked.input_ids[0].tolist()),
        actions=tuple(actions),
    )
