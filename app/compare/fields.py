"""The visitor's choices on the Compare page."""

from ..shell import Field

MOST_CHANGED = "best"  # stands for the head that differs most
MEASURES = {"relative": "relative change", "turn": "1 − cosine"}
"""What a tensor's drift is measured by."""
ESTIMATES = {"plain": "CKA", "debiased": "Debiased CKA"}

VIEW = Field("compare_view", "answers")
QUESTION = Field("compare_question", "")
PLACE = Field("compare_place", 0)
ANSWER = Field("compare_answer", "")
HEAD = Field("compare_head", MOST_CHANGED)
MAP_OPTIONS = Field("compare_map", "")  # view options of the two heat maps
MEASURE = Field("compare_measure", "relative", tuple(MEASURES))
ESTIMATE = Field("compare_cka", "plain", tuple(ESTIMATES))
