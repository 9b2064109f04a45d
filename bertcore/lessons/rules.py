"""What somebody gets right in a lesson who knows nothing and looks at the options alone."""

from collections.abc import Iterator, Sequence
from statistics import mean

from bertcore.lessons.lesson import MAX_CHOICES, Choice, Lesson, Step

MOST = 0.45
"""Share of a lesson's fixed questions that no such rule may get; of three options chance gets a
third."""
LEAST = 5
"""Fixed questions from which on a share says something."""
LONGER = 1.2
"""How many times as long as the mean of the others the right option may be."""
_REASONS = ("because", "since ", "\u56e0\u4e3a", "потому", "ведь ", "затем, что")


def scores(lesson: Lesson) -> dict[str, float]:
    """Return the share of a lesson's fixed questions that each rule gets, 0 to 1.

    Of options that fulfil a rule alike it picks one by chance.
    """
    picked = [_picks(step.choices) for step in _fixed(lesson)]
    names = picked[0] if picked else ()
    return {name: mean(_chance(each[name]) for each in picked) for name in names}


def faults(lesson: Lesson) -> Iterator[str]:
    """Yield the rules that get more than they may."""
    if len(_fixed(lesson)) < LEAST:
        return
    for name, share in scores(lesson).items():
        if share > MOST:
            yield (
                f"{name} is right in {share:.0%} of the {len(_fixed(lesson))} questions that the "
                f"lesson itself decides; expected at most {MOST:.0%}. Write the reason into why, "
                "and make other options as long."
            )


def warnings(lesson: Lesson) -> Iterator[str]:
    """Yield the questions whose right option is longer than the others by more than a fifth."""
    for step in _fixed(lesson):
        right = next(one.text for one in step.choices if one.right)
        others = mean(len(one.text) for one in step.choices if not one.right)
        if len(right) > LONGER * others:
            yield f"{step.title}: the right option has {len(right)} letters, others {others:.0f}."


def _fixed(lesson: Lesson) -> list[Step]:
    return [step for step in (*lesson.steps, *lesson.again) if step.answer is None]


def _picks(some: Sequence[Choice]) -> dict[str, Sequence[Choice]]:
    """Return the options that fulfil each rule."""
    lengths = [len(one.text) for one in some]
    longest, shortest = (
        [one for one in some if len(one.text) == length] for length in (max(lengths), min(lengths))
    )
    reasons = [one for one in some if any(word in one.text.lower() for word in _REASONS)]
    places = {f"option {place + 1}": some[place : place + 1] for place in range(MAX_CHOICES)}
    return {
        "the longest": longest,
        "the shortest": shortest,
        "the one with a reason": reasons,
        **places,
    }


def _chance(picked: Sequence[Choice]) -> float:
    return sum(one.right for one in picked) / len(picked) if picked else 0.0
