"""The fixed sentences used to probe a run."""

from bertcore.training.probes import ProbeText

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
"""Plain English, in words that any English vocabulary has. In the first of the two pairs, the
sentences belong together; in the second, they do not."""
