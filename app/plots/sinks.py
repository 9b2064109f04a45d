"""What kind of sink a head has: its word, its numbers, and what they mean."""

from bertcore.analysis.heads.sinks import SINKS, Sink

TARGETS = dict(zip(SINKS, ("[CLS]", "[SEP]", "punctuation"), strict=True))
"""What the sink is, by the name of the measure."""
WORDS = {
    "idle": "does nothing",
    "constant": "adds the same vector to every text",
    "spreads": "hands on what it gathered from the text",
    "unclear": "the numbers disagree, or too few texts have one",
}
"""What each word of a sink means."""


def sink_sentence(sink: Sink, texts: str) -> str:
    """Return a head's sink with its numbers, in Markdown with BERT's special tokens.

    Args:
        texts: What was measured, such as "60 texts".
    """
    target = TARGETS[sink.target].replace("[", "\\[").replace("]", "\\]")
    begin = f"Over {texts}, **{sink.word}**: layer {sink.layer} head {sink.head} {{}} through "
    said = f"{begin.format(WORDS[sink.word])}{target} ({sink.attention:.0%} of its attention)."
    if sink.word == "unclear":
        said = (
            f"Over {texts}, **unclear** what layer {sink.layer} head {sink.head} does through "
            f"{target} ({sink.attention:.0%} of its attention): {WORDS['unclear']}."
        )
    if not sink.num_texts:
        return said
    return (
        f"{said} What it passes on from there has {sink.value_norm:.0%} of the other tokens' norm; "
        f"with that value at zero the layer's output changes {sink.share:.0%} as much as without a "
        f"head of the layer; {sink.constancy:.0%} of it is the same in all texts."
    )
