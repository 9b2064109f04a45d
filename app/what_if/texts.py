"""What the app says on the page: What if."""

from __future__ import annotations

TEXTS: dict[str, str] = {}
CODE: dict[str, str] = {}

TEXTS["what-if.switches"] = (
    "Rows are layers, columns heads, both counted from 0. A head that is off hands on nothing; its "
    "layer goes on with the others. A skipped layer hands on its input as it came."
)
TEXTS["what-if.bidirectional"] = "Every token may look at every token, as BERT was trained."
TEXTS["what-if.causal"] = (
    "Each token sees itself and those before it, as GPT. BERT never learned to work so, and "
    "\\[CLS\\] sees itself alone: the next-sentence answer is the same for every text."
)
TEXTS["what-if.prefix"] = (
    "The tokens of the prefix see each other; each later one sees the prefix and what stands "
    "before it, as UniLM's sequence-to-sequence mode."
)
TEXTS["what-if.drawn"] = (
    "A filled cell: the token of the row may look at that of the column, in every head."
)
TEXTS["what-if.unchanged"] = (
    "Nothing is changed yet, so before and after are the same. Click a head, or choose "
    "another pattern."
)
TEXTS["what-if.no_answer"] = (
    "Nothing is hidden and there is no pair, so BERT has no question to answer. Click a token "
    "above to hide it. Below is what changes inside."
)
TEXTS["what-if.no_head"] = (
    "This checkpoint has no masked-word (MLM) head, so no words can be compared. What changes "
    "inside is below; choose a pretrained checkpoint such as `default` in the sidebar for words."
)
TEXTS["what-if.words"] = (
    "The best words before (grey) and after (blue) at each \\[MASK\\]: the five best of both runs. "
    "Behind the probabilities stands the difference in percentage points. KL says how far the "
    "whole vocabulary moved: 0 is not at all."
)
TEXTS["what-if.task_classes"] = (
    "What the fine-tuned head answers before (grey) and after (blue): the five best classes of "
    "both runs, with the difference in percentage points. The probabilities of all classes sum to "
    "1. KL says how far they moved together."
)
TEXTS["what-if.task_labels"] = (
    "What the fine-tuned head answers before (grey) and after (blue): each label by itself, yes "
    "above 50%; they do not sum to 1. KL is summed over all labels."
)
TEXTS["what-if.task_tags"] = (
    "The five words whose tags moved most, each with its two best tags before (grey) and after "
    "(blue). A word is tagged at its first piece, as taggers are trained. The CSV has all words."
)
TEXTS["what-if.task_span"] = (
    "Where the fine-tuned head lets an answer start and end, before (grey) and after (blue): the "
    "four best tokens of both runs. The question is text A, the text to search is B; \\[CLS\\] "
    "means no answer, if it was trained so."
)
TEXTS["what-if.all"] = "Everything above, before and after, in one file:"
TEXTS["what-if.hidden"] = (
    "How much the tokens' vectors turned after each layer: the mean as a bar, the token that "
    "turned most as a line. 0: the same direction. Nothing below the lowest change can move."
)
TEXTS["what-if.attention"] = (
    "How differently each head looks, because what it sees has changed: Jensen-Shannon divergence "
    "of its rows, 0 the same, 1 nothing in common. Crosses are heads that are off: their attention "
    "is computed, but goes nowhere."
)
TEXTS["what-if.rank"] = (
    "Every head is removed alone, with all other changes in force, and the answer is compared. "
    "A head of small effect is not useless: others may do the same work, and another sentence may "
    "need it. The effects of several heads do not add up."
)
TEXTS["what-if.rank_word"] = (
    "Change of ln p of **{word}** at token {position} without the head. Orange, below 0: the head "
    "helps this word. Blue: it speaks for others."
)
TEXTS["what-if.rank_divergence"] = (
    "How far the words at token {position} move without the head: KL, in nats."
)
TEXTS["what-if.rank_label_classes"] = (
    "Change of the probability of **{label}** without the head. Orange, below 0: the head speaks "
    "for this class. Blue: it speaks for others."
)
TEXTS["what-if.rank_label_labels"] = (
    "Change of the probability of **{label}** without the head. Orange, below 0: the head speaks "
    "for this label. Blue: it speaks against it."
)
TEXTS["what-if.rank_label_score"] = "Change of the score without the head."
TEXTS["what-if.rank_answer_classes"] = (
    "How far the probabilities of all classes move without the head: KL, in nats."
)
TEXTS["what-if.rank_answer_labels"] = (
    "How far the labels' probabilities move without the head: KL, in nats, summed over the labels."
)
TEXTS["what-if.rank_answer_tags"] = (
    "How far the tags move without the head: KL, in nats, the mean over the words."
)
TEXTS["what-if.rank_answer_span"] = (
    "How far start and end of the answer move without the head: KL, in nats, the sum of both."
)
TEXTS["what-if.rank_next_sentence"] = "Change of the probability that B follows A without the head."
TEXTS["what-if.rank_hidden"] = (
    "How much the last layer's vectors turn without the head: the mean of 1 − cosine."
)
TEXTS["what-if.rank_stopped"] = "The ranking was stopped."
TEXTS["what-if.rank_old"] = (
    "This ranking was made with other changes in force than those above. Rank again to renew it."
)
TEXTS["what-if.save"] = (
    "Writes a checkpoint in which the heads that are off hand on zeros for good. It opens here and "
    "in transformers, in its old shape: no smaller and no faster. Only heads are removed; skipped "
    "layers, patterns and edits belong to the run, not to the weights."
)
CODE["what-if.runs"] = """
from bertcore.analysis.compare.before_after import compare_runs
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.interventions.what_if import Changes

encoding = masked_encoding(bert, trace.text_a, trace.text_b, {masked})
changes = {changes}
before = bert.trace(trace.text_a, trace.text_b, encoding=encoding)
after = bert.trace(trace.text_a, trace.text_b, encoding=encoding, changes=changes)
found = compare_runs(bert, before, after)
"""
CODE["what-if.task"] = """
from bertcore.analysis.compare.task_shift import compare_task
from bertcore.loading.task_head import read_task_head

task = compare_task(bert, read_task_head(bert), before, after)
"""
CODE["what-if.rank"] = """
from bertcore.analysis.heads.importance import rank_heads
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.loading.task_head import read_task_head
from bertcore.interventions.what_if import Changes

encoding = masked_encoding(bert, trace.text_a, trace.text_b, {masked})
changes = {changes}
found = rank_heads(
    bert, encoding, changes=changes, position={position}, word={word!r}{task}{label}
)
found.strongest({measure!r})
"""
