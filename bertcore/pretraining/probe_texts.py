"""The fixed sentences that a run is asked about again and again, so that one can watch it learn."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = {
    "n": "nouns",
    "v": "verbs",
    "d": "describing words",
    "p": "pronouns",
    "s": "small words",
    ".": "punctuation",
}
"""What the letters of `ProbeText.kinds` stand for."""


@dataclass(frozen=True, slots=True)
class ProbeText:
    """A sentence or pair to watch.

    Raises:
        ValueError: If the hidden word is not in text A.
    """

    text_a: str
    text_b: str | None = None
    hidden: str = ""
    """A word of text A that is hidden for the masked-word question; its first occurrence."""
    kinds: str = ""
    """One letter of KINDS for each word and punctuation mark of both texts; empty: not known."""

    def __post_init__(self) -> None:
        if not self.hidden or self.hidden not in self.text_a:
            raise ValueError(f"the hidden word {self.hidden!r} is not in {self.text_a!r}.")


PROBE_TEXTS = (
    ProbeText("The old man sat by the fire and read his letter.", None, "man", "sdnvssnsvpn."),
    ProbeText("She gave her sister a new dress and a little book.", None, "her", "pvpnsdnssdn."),
    ProbeText("He said that he would not go to London with them.", None, "not", "pvspvsvsnsp."),
    ProbeText("The king and the queen lived in a house near the river.", None, "queen",
              "snssnvssnssn."),
    ProbeText("Her mother was ill for many days.", "At last the doctor came to the house.",
              "mother", "pnvdsdn.sssnvssn."),
    ProbeText("Her mother was ill for many days.", "Ships carry wheat over the sea.",
              "mother", "pnvdsdn.nvnssn."),
)  # fmt: skip
"""Plain English, in words that any English vocabulary has. Of the two pairs the first belongs
together and the second does not."""
