"""Short documents of our own, for training examples and their random sentences B."""

from typing import NamedTuple


class Document(NamedTuple):
    """A shipped document."""

    title: str
    text: str


DOCUMENTS = (
    Document(
        "A bridge",
        "The river had risen during the night. In the morning the old bridge was under water. "
        "Soldiers built a new one within a week. It was made of wood and stood for forty years.",
    ),
    Document(
        "A teacher",
        "She opened the school in a small house near the church. At first only six children came. "
        "Their parents paid her in bread and eggs. After ten years the town gave her a larger "
        "building.",
    ),
    Document(
        "The moon",
        "The moon has no light of its own. We see it because the sun shines on it. Its distance "
        "from the earth is about 384,000 kilometres. It always turns the same side to us.",
    ),
    Document(
        "A match",
        "The match began in heavy rain. Both teams lost the ball again and again. In the last "
        "minute the captain scored with his head. Thousands of people ran onto the field.",
    ),
    Document(
        "A letter",
        "He had not written to his brother for twelve years. Then a letter came from America. It "
        "said that the farm was sold. He read it twice and put it into the fire.",
    ),
)
