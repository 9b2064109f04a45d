"""Example sentences, each with what it shows."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """A text or a pair to start from."""

    group: str
    """What kind of thing it shows."""
    title: str
    """What it shows, in a few words."""
    text_a: str
    text_b: str = ""
    """Empty for a single text."""
    checkpoint: str = ""
    """The shipped checkpoint that opens with it; empty to leave the visitor's."""


DEFAULT = Example(
    "Meaning",
    "One word, two meanings: bank",
    "The fisherman sat on the bank of the river.",
    "Later he walked to the bank to borrow some money.",
)
"""What the app opens with: a pair, words in several pieces, one word twice in two senses, and words
that can be guessed when they are hidden."""

REVIEW = Example(
    "Meaning",
    "A review: praise and complaint",
    "The food was cold, but our waiter was friendly and very funny.",
)
"""The text that the shipped classifier judges as an example."""

EXAMPLES: tuple[Example, ...] = (
    DEFAULT,
    REVIEW,
    Example(
        "Meaning",
        "A negation",
        "The film was not good, but the music was wonderful.",
    ),
    Example(
        "Word pieces",
        "Rare words are cut into pieces",
        "The palaeontologist photographed an unidentifiable microorganism.",
    ),
    Example(
        "Word pieces",
        "Accents, numbers, signs",
        "Zoë paid €12.50 for crème brûlée at 9:30 p.m. - très cher!",
    ),
    Example(
        "Word pieces",
        "Right to left, Chinese, emoji",
        "The word for peace is שלום in Hebrew, سلام in Arabic and 和平 in Chinese 🕊️.",
    ),
    Example(
        "Grammar",
        "Who is it? Pronouns",
        "The animal did not cross the street because it was too tired.",
    ),
    Example(
        "Grammar",
        "The verb agrees with a distant noun",
        "The keys to the old wooden cabinet are on the table.",
    ),
    Example(
        "Grammar",
        "Who did it? Word order",
        "The dog bit the man.",
        "The man bit the dog.",
    ),
    Example(
        "Pairs",
        "A pair that belongs together",
        "The river rose during the night.",
        "In the morning the old bridge was under water.",
    ),
    Example(
        "Pairs",
        "A pair that does not",
        "The river rose during the night.",
        "The committee elected a new chairman in May.",
    ),
    Example(
        "Prediction",
        "A hidden word",
        "The capital of France is [MASK], and the capital of Spain is Madrid.",
    ),
    Example("Chinese", "A hidden character", "我爱[MASK]习。", checkpoint="zh"),
    Example("Chinese", "A Chinese pair", "我爱学习。", "学校在北京。", "zh"),
    Example("Russian", "A hidden Russian word", "Я люблю [MASK].", checkpoint="ru"),
    Example("Russian", "A Russian pair", "Он вышел из комнаты.", "Мать сидела у окна.", "ru"),
)
