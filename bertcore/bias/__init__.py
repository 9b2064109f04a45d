"""Measures of stereotypes in a model, their uncertainty, and ways to reduce them.

None of them predicts harm in use: intrinsic measures hardly correlate with those of an application
(Goldfarb-Tarrant et al. 2021), and a model near chance looks fair.
"""

from bertcore.base.public import imported
from bertcore.bias.associations import (
    AssociationOutcome,
    known_tests,
    run_association_tests,
)
from bertcore.bias.crows_pairs import (
    MEASURES,
    Measure,
    StereotypePair,
    StereotypeScore,
    read_crows_pairs,
    score_crows_pairs,
    stereotype_shares,
)
from bertcore.bias.direction import (
    AlongDirection,
    Debiased,
    Direction,
    Probe,
    along_direction,
    debias_table,
    find_direction,
    probe,
    project,
)
from bertcore.bias.erased import (
    METHODS,
    Effect,
    ErasedBert,
    Erasure,
    erase,
    fit_erasure,
    measure_erasure,
)
from bertcore.bias.erasure import Eraser, equalise, inlp, leace, neutralise
from bertcore.bias.flips import FlipLean, FlippedText, Flips, flip_file, parse_pairs
from bertcore.bias.group_audit import GroupAudit, audit_groups
from bertcore.bias.group_gaps import Gap, Rate, Rates
from bertcore.bias.own_sets import (
    DirectionWords,
    NamedAssociation,
    TemplateAudit,
    association_tests,
    direction_words,
    group_sets,
    known_pairs,
    known_part,
    paired_sentences,
    read_association,
    template_audits,
)
from bertcore.bias.pronouns import (
    PronounItem,
    PronounScore,
    pronoun_shares,
    read_winobias,
    score_pronouns,
)
from bertcore.bias.shares import (
    Estimate,
    Share,
    grammar_exam,
    masked_words,
    preferred,
    share_rows,
    shares,
)
from bertcore.bias.slots import known_words, left_out_note
from bertcore.bias.stereoset import (
    GapItem,
    GapScore,
    StereoSetScore,
    read_stereoset,
    score_stereoset,
    stereoset_scores,
)
from bertcore.bias.templates import Group, Lean, TemplateScores, lean, score_templates
from bertcore.bias.top_fills import GroupFill, TopFills, top_fills
from bertcore.bias.word_association import (
    Association,
    AssociationTest,
    association,
    chance_effects,
    table_vectors,
    text_vectors,
)

__all__ = imported(globals())
