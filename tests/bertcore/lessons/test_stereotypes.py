"""Answers about stereotypes: their scores are kept, and the checkpoint behind them is not."""

import gc
import weakref

from bertcore.analysis.bias import template_audits
from bertcore.lessons.answers import ANSWERS
from bertcore.lessons.stereotypes import _scored
from tests.support.tiny import tiny_bert


def test_what_was_asked_of_a_checkpoint_does_not_hold_it() -> None:
    bert = tiny_bert()
    audit = next(iter(template_audits())).name
    find = ANSWERS["mean_lean"].function
    found = find(bert, "The nurse sat.", None, audit=audit)
    assert _scored(bert, audit) is _scored(bert, audit)
    assert find(bert, "Another text.", None, audit=audit) == found
    closed = weakref.ref(bert)
    del bert
    gc.collect()
    assert closed() is None
