"""What notes on pretraining often get wrong, and the figures of the papers."""

from __future__ import annotations

from typing import NamedTuple


class Claim(NamedTuple):
    """A wrong claim."""

    said: str
    """As notes have it."""
    true: str
    """What the source says, with its figures."""
    source: str


MASKED_WORDS = (
    Claim(
        "BERT predicts the words that became [MASK].",
        "It predicts all chosen pieces, also the 10% that stayed and the 10% that became random.",
        "Devlin et al. 2019, section 3.1",
    ),
    Claim(
        "The masks of BERT are fixed once and for all.",
        "The data holds ten copies with ten masks; in 40 epochs each mask comes about four times.",
        "Liu et al. 2019, section 4.1",
    ),
    Claim(
        "New masks each epoch made RoBERTa better.",
        "Alone they give +0.4 F1 on SQuAD 2.0 (78.3 to 78.7) and -0.3 on MNLI (84.3 to 84.0). The "
        "rest is data, batch and steps.",
        "Liu et al. 2019, table 1",
    ),
    Claim(
        "Nobody knows why 80/10/10.",
        "The paper gives its reasons (appendix A.1) and compares: 80/10/10 and 100/0/0 have 84.2 "
        "and 84.3 on MNLI, and without fine-tuning 94.9 and 94.0 F1 on named entities.",
        "Devlin et al. 2019, appendix C.2",
    ),
)
WHOLE_WORDS = (
    Claim(
        "Whole words give 1 to 2 points of BLEU and F1 on SQuAD and GLUE.",
        "SQuAD 1.1 gains 1.8 F1 uncased (91.0 to 92.8) and 1.4 cased (91.5 to 92.9), all Large. "
        "GLUE does not gain: 83.2 to 82.9 under control. BLEU measures translation.",
        "google-research/bert README; Joshi et al. 2020, table 6",
    ),
    Claim(
        "A word becomes [MASK] as one.",
        "It is chosen as one; 80/10/10 is drawn for each of its pieces.",
        "google-research/bert create_pretraining_data.py",
    ),
)
SPANS = (
    Claim(
        "SpanBERT hides spans of 2 to 5 tokens.",
        "1 to 10 whole words, geometric with p = 0.2: 3.8 words in the mean.",
        "Joshi et al. 2020, section 3.1",
    ),
    Claim(
        "It helps named entities and semantic roles, by 1 to 2 points.",
        "It helps questions, coreference and relations: SQuAD 2.0 83.3 to 88.7 F1, OntoNotes 77.1 "
        "to 79.6, TACRED 66.4 to 70.8 (Large).",
        "Joshi et al. 2020, section 5",
    ),
)
NEXT_SENTENCE = (
    Claim(
        "Half of the pairs are random.",
        "A little more: a sentence that is left alone always gets a random B.",
        "google-research/bert create_pretraining_data.py",
    ),
    Claim(
        "The answer is a sigmoid of the vector of [CLS].",
        "A dense layer with tanh (the pooler), then a softmax over two classes; 1 is random.",
        "google-research/bert modeling.py, run_pretraining.py",
    ),
    Claim(
        "It teaches how sentences follow each other.",
        "It teaches topic: asked for the order of two sentences, such a model is right in 52.0%.",
        "Lan et al. 2020, table 5",
    ),
    Claim(
        "BERT needs it.",
        "Whole rows of sentences without it do better: MNLI 84.0 to 84.7, SQuAD 2.0 78.7 to 79.1.",
        "Liu et al. 2019, table 2",
    ),
)
SENTENCE_ORDER = (
    Claim(
        "Sentence order is next sentence by another name.",
        "A model of it is right in 86.5% about order, one of next sentence in 52.0%. Five tasks "
        "rise from 79.2 to 80.1 (79.0 without either).",
        "Lan et al. 2020, table 5",
    ),
    Claim(
        "ALBERT shares its layers, so it computes less.",
        "It stores less: every layer is still computed.",
        "Lan et al. 2020, section 3.1",
    ),
)
REPLACED = (
    Claim(
        "ELECTRA's loss is the discriminator's.",
        "The generator's is added: L = L_G + 50 L_D.",
        "Clark et al. 2020, section 2",
    ),
    Claim(
        "It takes a quarter of BERT's compute.",
        "A quarter of RoBERTa's and XLNet's, for about their results. At BERT-Base's compute GLUE "
        "rises from 82.2 to 85.0.",
        "Clark et al. 2020, abstract and table 5",
    ),
    Claim(
        "DeBERTa-v3 trains R3L: replaced, removed and rotated tokens.",
        "There is no such objective. It trains ELECTRA's, with gradient-disentangled sharing of "
        "the token table: E_D = sg(E_G) + E_delta, where the discriminator trains E_delta alone.",
        "He et al. 2023, sections 3.1 and 3.2",
    ),
    Claim(
        "A discriminator that is right in 90% is good.",
        "One that always says “original” is right in 90% or so; look at its AUC.",
        "our own arithmetic: 15% hidden, some guessed right",
    ),
)
PERMUTATION = (
    Claim(
        "XLNet shuffles the words.",
        "Every token keeps its place and its position. The order is in who attends to whom.",
        "Yang et al. 2019, section 2.2",
    ),
    Claim(
        "It predicts every token.",
        "The last sixth of the order (K = 6), given all before it.",
        "Yang et al. 2019, section 2.3",
    ),
    Claim(
        "Its gain over BERT is the objective's.",
        "Of 5.0 points on SQuAD 2.0 (76.3 to 81.3), 3.3 come from Transformer-XL and the pipeline.",
        "Yang et al. 2019, table 6",
    ),
)
UNILM = (
    Claim(
        "Left to right means that the next token is predicted.",
        "All four are cloze tasks: the guess stands at its own [MASK].",
        "Dong et al. 2019, section 2.3",
    ),
    Claim(
        "UniLM translates.",
        "It was tested on summaries, questions, answers and dialogue.",
        "Dong et al. 2019, section 3",
    ),
)
CAUSAL = (
    Claim(
        "Two such models, one from each side, are as good as BERT.",
        "ELMo's two never see both sides at once. Left to right alone, BERT-Base falls from 88.5 "
        "to 77.8 F1 on SQuAD 1.1; a BiLSTM on top brings 84.9.",
        "Devlin et al. 2019, table 5",
    ),
)
T5_SPANS = (
    Claim(
        "T5 writes the whole text again.",
        "It writes the removed spans, each behind its sentinel: of 568 pieces 512 are read and "
        "114 written.",
        "Raffel et al. 2020, section 3.1.4; preprocessors.py",
    ),
    Claim(
        "Spans are three words long.",
        "Three word pieces, in the mean.",
        "google-research/text-to-text-transfer-transformer preprocessors.py",
    ),
)
BART = (
    Claim(
        "BART is trained with all five noises.",
        "With infilling and sentence order together. The others were only compared.",
        "Lewis et al. 2020, section 3",
    ),
    Claim(
        "All five help.",
        "Alone, rotation reaches 77.2 F1 on SQuAD 1.1 and sentence order 85.4; infilling 90.8, "
        "masking and deletion 90.4.",
        "Lewis et al. 2020, table 1",
    ),
)
MASS = (
    Claim(
        "MASS writes the whole text again.",
        "It writes the hidden half, and its decoder reads nothing else of the text.",
        "Song et al. 2019, section 3.2",
    ),
    Claim(
        "It hides 15%, as BERT.",
        "One fragment of 50%. Of one token it would be BERT's objective, of all a language model.",
        "Song et al. 2019, section 3.3",
    ),
)
