"""Measures of stereotypes in a model, their uncertainty, and ways to reduce them.

None of them predicts harm in use: intrinsic measures hardly correlate with those of an application
(Goldfarb-Tarrant et al. 2021), and a model near chance looks fair.
"""

from bertcore.bias.along_direction import AlongDirection, along_direction
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
from bertcore.bias.debiased import Debiased, debias_table
from bertcore.bias.direction import Direction, Probe, find_direction, probe, project
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
from bertcore.bias.quality import Estimate, grammar_exam, masked_words
from bertcore.bias.shares import Share, preferred, share_rows, shares
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
from bertcore.bias.word_association import (
    Association,
    AssociationTest,
    association,
    chance_effects,
    table_vectors,
    text_vectors,
)

__all__ = [
    "MEASURES",
    "METHODS",
    "AlongDirection",
    "Association",
    "AssociationOutcome",
    "AssociationTest",
    "Debiased",
    "Direction",
    "DirectionWords",
    "Effect",
    "ErasedBert",
    "Eraser",
    "Erasure",
    "Estimate",
    "FlipLean",
    "FlippedText",
    "Flips",
    "Gap",
    "GapItem",
    "GapScore",
    "Group",
    "GroupAudit",
    "Lean",
    "Measure",
    "NamedAssociation",
    "Probe",
    "PronounItem",
    "PronounScore",
    "Rate",
    "Rates",
    "Share",
    "StereoSetScore",
    "StereotypePair",
    "StereotypeScore",
    "TemplateAudit",
    "TemplateScores",
    "along_direction",
    "association",
    "association_tests",
    "audit_groups",
    "chance_effects",
    "debias_table",
    "direction_words",
    "equalise",
    "erase",
    "find_direction",
    "fit_erasure",
    "flip_file",
    "grammar_exam",
    "group_sets",
    "inlp",
    "known_pairs",
    "known_part",
    "known_tests",
    "known_words",
    "leace",
    "lean",
    "left_out_note",
    "masked_words",
    "measure_erasure",
    "neutralise",
    "paired_sentences",
    "parse_pairs",
    "preferred",
    "probe",
    "project",
    "pronoun_shares",
    "read_association",
    "read_crows_pairs",
    "read_stereoset",
    "read_winobias",
    "run_association_tests",
    "score_crows_pairs",
    "score_pronouns",
    "score_stereoset",
    "score_templates",
    "share_rows",
    "shares",
    "stereoset_scores",
    "stereotype_shares",
    "table_vectors",
    "template_audits",
    "text_vectors",
]
