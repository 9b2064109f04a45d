"""The health coach: diagnoses a training run from its metrics and probes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bertcore.analysis.heads.entropy_history import HeadHistory

SEVERITIES = ("problem", "warning", "note")
"""problem: stop and change something. warning: the result will suffer. note: good to know."""

Line = Mapping[str, Any]

EARLY_FRACTION = 0.3
"""Fraction of the run, 0 to 1, before which missing progress is not a finding."""
NUM_LAST = 3
"""Number of consecutive held-out scores before a finding says "still"."""
CHANCE_SIGMAS = 2.5
"""Standard errors above chance from which pairs count as partly learned."""
TOO_GOOD = 0.99
"""NSP accuracy that is suspicious while masked words are not learned."""
NEAR_UNIGRAM = 0.03
"""Fraction of the unigram entropy within which a masked-word loss is on the plateau."""
SPIKE_NATS = 0.5
"""Minimum rise of the loss that counts as a spike if the loss is steady."""
GRADIENT_FACTOR = 10.0
"""Growth of the gradient norm that counts as an explosion."""
RISE_NATS = 0.1
"""Rise of the held-out loss above its best that counts as over-fitting."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a run."""

    rule: str
    """The rule that found it: nsp_chance, nsp_too_good, unigram_plateau, gradients, loss_spike,
    dead_heads, over_fitting, diverged."""
    severity: str
    """One of SEVERITIES."""
    sentence: str
    """The problem with its numbers, and what to do."""
    step: int | None = None
    """The step at which it was seen."""
    evidence: dict[str, float] = field(default_factory=dict)
    """The numbers behind it."""


@dataclass(frozen=True, slots=True)
class _Run:
    lines: Sequence[Line]
    fraction_done: float
    unigram_entropy: float | None
    heads: HeadHistory | None

    @property
    def trained(self) -> list[Line]:
        return [line for line in self.lines if line.get("loss") is not None]

    @property
    def held_out(self) -> list[Line]:
        return [line for line in self.lines if "valid_mlm_loss" in line]

    @property
    def held_out_pairs(self) -> list[Line]:
        """Empty for a run without next-sentence prediction."""
        return [line for line in self.held_out if "valid_nsp_accuracy" in line]

    @property
    def is_early(self) -> bool:
        return self.fraction_done < EARLY_FRACTION


def check_run(
    metrics: Sequence[Line],
    *,
    fraction_done: float,
    unigram_entropy: float | None = None,
    heads: HeadHistory | None = None,
) -> list[Finding]:
    """Return the problems of a run, the worst first; a healthy run has none.

    Args:
        metrics: The lines of metrics.jsonl, in order.
        fraction_done: Fraction of the run that is done, 0 to 1.
        unigram_entropy: Entropy of the training text in nats (`data_report` of config.json);
            without it one rule is skipped.
        heads: From `head_history`; without it dead heads are not checked.

    Source: ours; the questions are those asked by users of google-research/bert (issues 90, 180,
    427, 557 and 564) and codertimo/BERT-pytorch (issue 49).
    """
    run = _Run(metrics, fraction_done, unigram_entropy, heads)
    findings = [finding for rule in _RULES for finding in rule(run)]
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def _diverged(run: _Run) -> Iterator[Finding]:
    for line in run.lines:
        if "diverged" in line:
            yield Finding(
                "diverged",
                "problem",
                f"Training stopped at step {line['step']:,}: its loss or gradient was no longer a "
                "number. The last saved checkpoint is good. Start a new run with a lower "
                "learning rate, or a longer warm-up.",
                line["step"],
            )


def _next_sentence_at_chance(run: _Run) -> Iterator[Finding]:
    scores = run.held_out_pairs[-NUM_LAST:]
    if run.is_early or len(scores) < NUM_LAST:
        return
    pairs, random = scores[-1]["valid_num_pairs"], scores[-1]["valid_share_random"]
    chance = max(random, 1 - random)
    limit = chance + CHANCE_SIGMAS * (chance * (1 - chance) / pairs) ** 0.5
    accuracies = [line["valid_nsp_accuracy"] for line in scores]
    if max(accuracies) <= limit:
        yield Finding(
            "nsp_chance",
            "warning",
            f"Next-sentence prediction is not distinguishable from chance: {accuracies[-1]:.1%} "
            f"of {pairs:,} held-out pairs, while always giving the same answer scores {chance:.1%} "
            f"and luck up to {limit:.1%}. Small models learn it late: train longer, on whole "
            "documents of several sentences each. If the masked words are learned well and this "
            "remains, check how the pairs are made.",
            scores[-1]["step"],
            {"accuracy": accuracies[-1], "chance": chance, "limit": limit},
        )


def _next_sentence_too_good(run: _Run) -> Iterator[Finding]:
    for line in run.held_out_pairs:
        accuracy, loss = line["valid_nsp_accuracy"], line["valid_mlm_loss"]
        if run.unigram_entropy is not None:
            knows_words = loss < 0.8 * run.unigram_entropy
        else:
            knows_words = line["valid_mlm_top1"] > 0.15
        if accuracy >= TOO_GOOD and not knows_words:
            yield Finding(
                "nsp_too_good",
                "warning",
                f"Next-sentence prediction was right for {accuracy:.1%} of the held-out pairs at "
                f"step {line['step']:,}, while masked words were hardly learned (loss "
                f"{loss:.2f}). Something other than meaning gives the random pairs away: "
                "documents of different kinds, headers that repeat, or a length that differs. "
                "Look at some pairs.",
                line["step"],
                {"accuracy": accuracy, "mlm_loss": loss},
            )
            return


def _unigram_plateau(run: _Run) -> Iterator[Finding]:
    scores = run.held_out[-NUM_LAST:]
    entropy = run.unigram_entropy
    if entropy is None or run.is_early or len(scores) < NUM_LAST:
        return
    losses = [line["valid_mlm_loss"] for line in scores]
    if min(losses) >= (1 - NEAR_UNIGRAM) * entropy:
        yield Finding(
            "unigram_plateau",
            "warning",
            f"The masked-word loss is {losses[-1]:.2f} nats, and word frequencies alone give "
            f"{entropy:.2f}: the model answers with frequent words and does not use the context "
            "yet. Train longer; if the loss does not fall, change the learning rate or try a "
            "smaller vocabulary.",
            scores[-1]["step"],
            {"mlm_loss": losses[-1], "unigram_entropy": entropy},
        )


def _gradients(run: _Run) -> Iterator[Finding]:
    norms = np.array([line["gradient_norm"] for line in run.trained if "gradient_norm" in line])
    if len(norms) < 25:
        return
    now, before = float(np.median(norms[-5:])), float(np.median(norms[-105:-5]))
    if now > GRADIENT_FACTOR * before:
        step = run.trained[-1]["step"]
        yield Finding(
            "gradients",
            "problem",
            f"Gradients are exploding: their norm is {now:.3g} at step {step:,}, and was "
            f"{before:.3g} before. Clipping keeps the steps small, but their direction is "
            "arbitrary. Stop, and start again with a lower learning rate.",
            step,
            {"norm": now, "norm_before": before},
        )


def _loss_spike(run: _Run) -> Iterator[Finding]:
    lines = run.trained
    losses = np.array([line["loss"] for line in lines])
    last: tuple[int, float, float] | None = None
    for end in range(23, len(losses) + 1):
        window = losses[max(0, end - 23) : end - 3]
        usual = float(np.median(window))
        noise = float(np.median(np.abs(window - usual)))
        if float(np.median(losses[end - 3 : end])) > usual + max(SPIKE_NATS, 6 * noise):
            if last is None or end - last[0] > 20:
                last = (end, usual, float(losses[end - 3 : end].max()))
            else:  # the same spike continues
                last = (end, last[1], max(last[2], float(losses[end - 1])))
    if last is None:
        return
    end, usual, top = last
    is_over = float(np.median(losses[-3:])) < usual + SPIKE_NATS / 2
    step = lines[end - 1]["step"]
    yield Finding(
        "loss_spike",
        "note" if is_over else "problem",
        f"The loss jumped from {usual:.2f} to {top:.2f} around step {step:,}"
        + (
            " and has recovered. If it jumps again, lower the learning rate."
            if is_over
            else " and has not recovered. Go back to a checkpoint from before the jump, with a "
            "lower learning rate or a longer warm-up."
        ),
        step,
        {"loss_before": usual, "loss": top},
    )


def _dead_heads(run: _Run) -> Iterator[Finding]:
    heads = run.heads
    if run.is_early or heads is None or len(heads.steps) < NUM_LAST:
        return
    uniform = heads.uniform[-NUM_LAST:].all(0)
    stuck = heads.stuck[-NUM_LAST:].all(0)
    dead, total = int((uniform | stuck).sum()), uniform.size
    if not dead:
        return
    names = [f"layer {i} head {j}" for i, j in np.argwhere(uniform | stuck)[:3].tolist()]
    more = f" and {dead - len(names)} more" if dead > len(names) else ""
    kinds = [
        f"{count} {what}"
        for count, what in (
            (int(uniform.sum()), "attending to all tokens alike"),
            (int((stuck & ~uniform).sum()), "attending to one token in every sentence"),
        )
        if count
    ]
    yield Finding(
        "dead_heads",
        "warning" if 2 * dead >= total else "note",
        f"{dead} of {total} attention heads {'is' if dead == 1 else 'are'} not selective yet "
        f"({', '.join(kinds)}): {', '.join(names)}{more}. A few such heads are normal; many "
        "suggest that the model is too wide for its text or has not trained long enough.",
        heads.steps[-1],
        {"dead": float(dead), "heads": float(total)},
    )


def _over_fitting(run: _Run) -> Iterator[Finding]:
    # BERT's own objectives are judged by their masked words, others by their own loss.
    has_own = any("valid_loss" in line for line in run.lines)
    train_name, name = ("loss", "valid_loss") if has_own else ("mlm_loss", "valid_mlm_loss")
    scores = [line for line in run.lines if name in line]
    if len(scores) < NUM_LAST:
        return
    losses = [line[name] for line in scores]
    best = int(np.argmin(losses))
    since = scores[-2]["step"]
    recent = [line[train_name] for line in run.trained if line["step"] > since]
    train = float(np.mean(recent))
    gap, rise = losses[-1] - train, losses[-1] - losses[best]
    if rise > RISE_NATS and gap > 3 * RISE_NATS and best < len(losses) - 2:
        yield Finding(
            "over_fitting",
            "warning",
            f"The model overfits: on held-out text the {'' if has_own else 'masked-word '}loss "
            f"was best at step {scores[best]['step']:,} ({losses[best]:.2f}) and is "
            f"{losses[-1]:.2f} now, while on the training text it is {train:.2f}. Stop here and "
            "take the best checkpoint; use more text, a smaller model, or some dropout.",
            scores[-1]["step"],
            {"valid_loss": losses[-1], "best_loss": losses[best], "train_loss": train, "gap": gap},
        )


_RULES: tuple[Callable[[_Run], Iterator[Finding]], ...] = (
    _diverged,
    _gradients,
    _loss_spike,
    _next_sentence_at_chance,
    _next_sentence_too_good,
    _unigram_plateau,
    _over_fitting,
    _dead_heads,
)
