"""What the app says on the page: Inspect."""

from __future__ import annotations

TEXTS: dict[str, str] = {}
CODE: dict[str, str] = {}

TEXTS["inspect.no_head"] = (
    "**{name}** has no head for a task: it predicts words, not labels, so there is no decision "
    "to inspect. Open a fine-tuned checkpoint (classifier, tagger, regression or question "
    "answering, of BertScope or of `transformers`) on the Checkpoints page, or fine-tune this "
    "one on a table with a text and a label in each row, then choose the new folder in the "
    "sidebar:"
)
TEXTS["inspect.qa_needs_b"] = (
    "This model finds the answer to a question in a text. Write the question as sentence A and "
    "the text as sentence B."
)
TEXTS["inspect.pair_needs_b"] = (
    "This model judges a pair of texts. Write the second one as sentence B."
)
TEXTS["inspect.tag_reads_a"] = "A tagger reads one text: sentence B is left out."
TEXTS["inspect.cut_as_trained"] = (
    " The limit is that of its fine-tuning, which never saw longer texts; the other pages read up "
    "to {longest} tokens."
)
TEXTS["inspect.no_span"] = "Sentence B holds no word that could be an answer. Write a longer text."
TEXTS["inspect.stopped"] = "Stopped."
TEXTS["inspect.labels"] = (
    "The model's probability of each label (softmax of the head's outputs). How far it is to be "
    "believed is told by the calibration curve of a labelled file. In pink is the label that is "
    "explained below."
)
TEXTS["inspect.tags"] = (
    "The tag of each word, read at its first piece as in fine-tuning, with its probability. "
    "Click a coloured word, or choose one in the list, to see why it has its tag. Words without "
    "a colour have the tag O, or are \\[CLS\\] and \\[SEP\\]."
)
TEXTS["inspect.spans"] = (
    "The best answers in sentence B: probability of the start times probability of the end, each "
    "over all tokens. The grey bar is the answer that there is none, which only models trained "
    "on such questions (SQuAD 2.0) know to give. In pink is the answer that is explained below."
)
TEXTS["inspect.score"] = (
    "The number that the head gives; a regression says nothing of how sure it is."
)
TEXTS["inspect.baseline_help"] = (
    "Gradients are added up on the way from a text that says nothing to yours. In that text "
    "every word is [MASK], [PAD], or a vector of zeros; [CLS] and [SEP] stay."
)
TEXTS["inspect.steps_help"] = "More steps make the sum more exact, and take longer."
TEXTS["inspect.no_drop"] = (
    "This model answers for each token, so words can be masked but not left out."
)
TEXTS["inspect.ig"] = (
    "Blue words speak for what is explained, orange ones against it. Gradients are added up on "
    "the way from a text of {stand_in} ({unit} {begin}) to yours ({value}); all numbers together "
    "are the difference, {change}, but for the convergence delta, {delta}. Pieces of a word are "
    "summed. Integrated gradients: Sundararajan et al. 2017, by captum."
)
TEXTS["inspect.log_odds"] = (
    "Log-odds are ln(p / (1 − p)) of the probability p of what is explained: 0 is 50%, +2 is 88%, "
    "+4 is 98%, −2 is 12%. A word with +2 moves 50% to 88%."
)
TEXTS["inspect.gradient"] = (
    "Blue words speak for what is explained, orange ones against it: the slope of the {unit} by "
    "each token embedding, times that embedding. It sees only the immediate surroundings of the "
    "text. In BERT it is small and often says little: a LayerNorm follows, and token, segment "
    "and position together cancel to 0. Shrikumar et al. 2016, by captum."
)
TEXTS["inspect.erasure"] = (
    "Blue words speak for what is explained, orange ones against it: how much the {unit} "
    "({value} for the whole text) falls if this word alone is {gone}. Two words that say the "
    "same cover for each other. \\[CLS\\] and \\[SEP\\] are never taken away. Li et al. 2016."
)
TEXTS["inspect.large_delta"] = (
    "The convergence delta is {delta}, over 5% of what is to be explained: the sum is not exact "
    "yet. Choose more steps under *How to explain*."
)
TEXTS["inspect.no_gradients"] = (
    "This tagger was trained on the vectors of an encoder that stayed as it was (feature-based), "
    "so gradients do not reach the words; erasure needs none."
)
TEXTS["inspect.rows"] = (
    "Each row by its own strongest word: the methods have other units. Where they disagree, "
    "believe the one that is truer to the model."
)
TEXTS["inspect.faithfulness"] = (
    "An explanation is tested on the model itself. The top 1, 5, 10, 20 and 50% of the words (at "
    "least one) are taken away, and the {unit} that is lost is *comprehensiveness*; or they "
    "alone are kept, and what is lost then is *sufficiency*. Both are means over the five shares "
    "(DeYoung et al. 2020, AOPC). The diamond is the mean of {num} random orders of the words, "
    "its line goes from the least to the most: a method inside that line found no more than "
    "chance. One text proves little; texts with words taken away are odd to the model too."
)
TEXTS["inspect.parts"] = (
    "All three embeddings go the way together: tokens from the empty text, segments from segment "
    "0, positions from position 0 everywhere. One scale for all rows; in brackets what each sums "
    "to, together {change} in {unit} but for the convergence delta, {delta}. So words of segment "
    "0 have nothing in the second row, nor \\[CLS\\] in the third. A large third row says that "
    "the order of the words matters."
)
TEXTS["inspect.layers"] = (
    "How much of the integrated gradients passes through each word's vector behind each layer "
    "(conductance; Dhamdhere et al. 2019, by captum). Every row sums to {change} in {unit}, but "
    "for a convergence delta of at most {delta}. See where the decision gathers: a classifier's "
    "ends in \\[CLS\\], the only vector that its head reads."
)
TEXTS["inspect.layer_faithfulness"] = (
    "If the words are ranked by a layer's row: how true is that order? The dotted line is "
    "chance. In late layers a word's vector is no longer about that word alone, so these rows "
    "often fall to chance."
)
TEXTS["inspect.shipped_proposes"] = (
    "This checkpoint has no masked-word head any more, so the words are proposed by the shipped "
    "checkpoint, which has the same vocabulary."
)
TEXTS["inspect.none_found"] = (
    "No other answer was found in {ran} runs: no swap of up to four words, of those that were "
    "tried, changes it."
)
TEXTS["inspect.search_cut"] = (
    "No other answer was found within {ran} runs, the limit. There may be one further on."
)
TEXTS["inspect.swaps"] = (
    "Each text is yours with the fewest words swapped for words that BERT expects there, so that "
    "the answer is another; the most usual texts come first. First the words that matter most "
    "(by erasure) are swapped one after the other; if one swap is not enough, a beam of texts is "
    "searched for a shorter way, with at most {limit} runs. If a swap of a word that should not "
    "matter turns the answer, the model has learned something that you may not want. *Use this "
    "text* takes it to all pages."
)
TEXTS["inspect.upload_classify"] = (
    "A table with a text and its label in each row (CSV, TSV, JSON lines)"
)
TEXTS["inspect.upload_pair"] = (
    "A table with two texts and their label in each row (CSV, TSV, JSON lines)"
)
TEXTS["inspect.upload_regress"] = (
    "A table with a text or pair and its score in each row (CSV, TSV, JSON lines)"
)
TEXTS["inspect.upload_tag"] = "Tagged sentences: CoNLL columns, CoNLL-U or JSON lines"
TEXTS["inspect.upload_qa"] = "Questions in the form of SQuAD (JSON)"
TEXTS["inspect.no_file"] = (
    "The file stays on this server and is read a few thousand rows at a time. Also packed as .gz "
    "or .xz. The same in the terminal: `bertscope evaluate`."
)
TEXTS["inspect.other_run"] = "Below is the last run. Run the file to renew it."
TEXTS["inspect.partly"] = "Stopped: what follows is of the first {done} examples of the file."
TEXTS["inspect.confusion"] = (
    "Rows are the true labels, columns what the model said, the colour the share of the row. "
    "Right answers are on the diagonal. A bright cell off it is a pair of labels that it cannot "
    "tell apart."
)
TEXTS["inspect.scores"] = "Each dot is a row of the file. On the dotted line the model is right."
TEXTS["inspect.calibration"] = (
    "Answers are put into ten bins by how sure the model was; a bar is the share of them that "
    "are right, with its 95% interval, and the pink dot stands at their mean confidence. On the "
    "dotted line the model is as often right as it is sure; bars below it: it is too sure of "
    "itself. Expected calibration error {ece}: the mean gap; the largest gap is {mce} (Guo et "
    "al. 2017)."
)
TEXTS["inspect.slices"] = (
    "The same answers in parts; in brackets how many. The thin lines are 95% intervals, the "
    "dotted line is the mean of all. A part is weak if its whole interval lies on the bad side "
    "of the line."
)
TEXTS["inspect.errors"] = (
    "The wrong answers of which the model was most sure ({shown}). They show best what it has "
    "learned wrong, or where a label of the file is. Click the box at the left of a row to see "
    "why: the text goes to *One text* and to all other pages. *open* shows it on another page in "
    "a new tab."
)
TEXTS["inspect.score_errors"] = (
    "The rows whose score is furthest from the true one ({shown}). They show best what it has "
    "learned wrong, or where a score of the file is. Click the box at the left of a row to see "
    "why: the text goes to *One text* and to all other pages. *open* shows it on another page in "
    "a new tab."
)
CODE["inspect.setup"] = """
from bertcore.finetuning import open_task_model
from bertcore.analysis.attribution.task_input import task_input

model = open_task_model({path!r})
source = task_input(model, {a!r}, {b!r})
"""
CODE["inspect.answer"] = """
from bertcore.analysis.attribution.task_answers import answer

answer(model, source)
"""
CODE["inspect.words"] = """
from bertcore.analysis.attribution.gradients import gradient_x_input, integrated_gradients
from bertcore.analysis.attribution.word_occlusion import erasure
from bertcore.analysis.attribution.faithfulness_scores import faithfulness, random_faithfulness

found = integrated_gradients(model, source, target, baseline={baseline!r}, steps={steps})
words = {{
    "ig": source.merge(found.parts["token"]),
    "gradient": source.merge(gradient_x_input(model, source, target).parts["token"]),
    "erasure": erasure(model, source, target, how={erase!r}).importance,
}}
found.delta
faithfulness(model, source, target, words, how={erase!r})
random_faithfulness(model, source, target, how={erase!r})
"""
CODE["inspect.parts"] = """
from bertcore.analysis.attribution.gradients import PARTS, integrated_gradients

found = integrated_gradients(
    model, source, target, parts=PARTS, baseline={baseline!r}, steps={steps}
)
{{name: source.merge(values) for name, values in found.parts.items()}}
"""
CODE["inspect.layers"] = """
from bertcore.analysis.attribution.gradients import layer_conductance
from bertcore.analysis.attribution.faithfulness_scores import faithfulness

found = layer_conductance(model, source, target, baseline={baseline!r}, steps={steps})
words = source.merge(found.layers)  # [L, W]
rows = {{str(layer): row for layer, row in enumerate(words)}}
faithfulness(model, source, target, rows, how={erase!r})
"""
CODE["inspect.swaps"] = """
import bertcore
from bertcore.analysis.attribution.counterfactual import find_counterfactuals

proposer = bertcore.load("default")  # or the checkpoint itself, if it has a masked-word head
find_counterfactuals(
    model, proposer, source.text, source.text_pair, word={word}, score_change={score_change}
)
"""
CODE["inspect.file"] = """
from pathlib import Path

from bertcore.analysis.attribution.labelled_file import run_file
from bertcore.finetuning import Columns, open_task_model

model = open_task_model({path!r})
run = run_file(model, Path("my-file"), columns={columns}, skip_bad_rows={skip})
run.metrics(), run.calibration(), run.slices_by_length(), run.slices_by_label(), run.errors
"""
CODE[
    "inspect.finetune"
] = """bertscope finetune --task classify --train train.tsv --dev dev.tsv --out my-classifier
bertscope --help          # then open the app in the same folder, and choose my-classifier"""
