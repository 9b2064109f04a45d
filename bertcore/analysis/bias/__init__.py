"""Measures of stereotypes in a model, their uncertainty, and a correction by projection.

None of them predicts harm in use: intrinsic measures hardly correlate with those of an application
(Goldfarb-Tarrant et al. 2021), and a model near chance looks fair.
"""

from bertcore.analysis.bias.associations import (
    Association,
    AssociationOutcome,
    associate,
    association,
    known_tests,
    note_on_pieces,
    run_association_test,
    run_association_tests,
    word_vectors,
)
from bertcore.analysis.bias.crows_pairs import (
    StereotypePair,
    read_crows_pairs,
    score_crows_pairs,
    stereotype_share,
)
from bertcore.analysis.bias.direction import (
    AlongDirection,
    Direction,
    Effect,
    Eraser,
    Probe,
    along_direction,
    along_layers,
    debias_table,
    equalise,
    find_direction,
    leace,
    measure_effects,
    neutralise,
    probe,
    project,
)
from bertcore.analysis.bias.quality import Estimate, grammar_exam, masked_words
from bertcore.analysis.bias.templates import (
    AuditedTemplates,
    Lean,
    TemplateScores,
    audit_templates,
    known_audit,
    lean,
    score_templates,
)
from bertcore.analysis.bias.words import (
    AssociationTest,
    Group,
    TemplateAudit,
    association_tests,
    gender_pairs,
    known_words,
    left_out_note,
    template_audits,
)
from bertcore.base.public import imported

__all__ = imported(globals())
