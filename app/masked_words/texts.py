"""What the app says on the page: Masked words."""

from __future__ import annotations

TEXTS: dict[str, str] = {}
CODE: dict[str, str] = {}

TEXTS["words.strip"] = "Click a token to hide it, click again to show it, or type {mask} above."
TEXTS["words.nothing_hidden"] = (
    "Nothing is hidden yet. Click a token above, let the button choose a good one, or type "
    "{mask} in the sentence."
)
TEXTS["words.no_head"] = (
    "This checkpoint has no masked-word (MLM) head, so it cannot predict words; fine-tuned "
    "checkpoints often lost it. Choose a pretrained one such as `default` in the sidebar."
)
TEXTS["words.fill"] = (
    "Each bar is the probability of one piece of the vocabulary; all pieces together make 100%. "
    "The pink bar is the token that was there. Several masks are guessed independently: each is "
    "predicted as if nobody knew the others, so two good words may not fit together."
)
TEXTS["words.in_turn"] = (
    "Filled one after another, the surest first, each seeing those before: {steps}"
)
TEXTS["words.no_candidates"] = (
    "Try words that BERT did not offer: rare ones, wrong ones, or several words at one place."
)
TEXTS["words.candidates"] = (
    "A word that is one piece has the probability of the bars above. A word of several pieces gets "
    "as many masks, and its pieces are guessed one after another from left to right, each with "
    "those before it filled in; the probabilities are multiplied. The blue dot is that product, "
    "the orange ring its mean for each piece: compare rings when words differ in length."
)
TEXTS["words.lens"] = (
    "The word that BERT would say if it stopped after this layer, from the embeddings up to the "
    "last layer; the brighter, the surer. "
    "Mind that the head which turns vectors into words was trained for the last layer only: what "
    "it reads from earlier ones shows how near they are to its language, not what they know. "
    "(Layer 1 is what the attention heads of layer 0 lead to.) At a "
    "token that is not hidden BERT sees the token itself, and mostly repeats it."
)
TEXTS["words.ranks"] = (
    "Rank 1 is the best of the whole vocabulary. Followed are the hidden word, the three winners "
    "at the end, and your own words of one piece."
)
TEXTS["words.surprise"] = (
    "Each token in turn is hidden, alone, and BERT guesses it from all the others. Colour is its "
    "surprise in bits: 0 means it was certain, each bit more halves the probability. Below stands "
    "BERT's own guess, ✓ if it was right. Over the {num_tokens} tokens the pseudo-perplexity is "
    "**{perplexity}**: as if BERT had to choose among so many equally likely pieces each time "
    "(Salazar et al. 2020)."
)
TEXTS["words.scoring"] = "Hiding each token in turn"
TEXTS["words.masking"] = (
    "What BERT would have got of this sentence in training: {chosen} of its {num_tokens} tokens "
    "(\\[CLS\\] and \\[SEP\\] counted, but never chosen) must be predicted. Of these 80% become "
    "\\[MASK\\], 10% a random piece, and 10% stay as they are: since any token may be wrong, BERT "
    "must keep a good idea of all of them. The draw is made by the code that trains our own BERT."
)
CODE["words.fill"] = """
from bertcore.analysis.words.predictions import predict_masks

found = predict_masks(bert, trace.text_a, trace.text_b, {masked}, {top_k})
found.words, found.probabilities            # [M, k]
"""
CODE["words.candidates"] = """
from bertcore.analysis.words.candidates import score_candidates

scored = score_candidates(bert, trace.text_a, trace.text_b, {masked}, {position}, {words})
[(c.word, c.pieces, c.probability) for c in scored]
"""
CODE["words.lens"] = """
from bertcore.analysis.words.lens import layer_predictions

lens = layer_predictions(bert, trace.text_a, trace.text_b, {masked}, {shown}, 5)
lens.words, lens.probabilities              # [L+1, N, k]
"""
CODE["words.ranks"] = """
from bertcore.analysis.words.lens import word_trajectories

path = word_trajectories(bert, trace.text_a, trace.text_b, {masked}, {position}, {words})
path.ranks                                  # [L+1, W]
"""
CODE["words.surprise"] = """
from bertcore.analysis.words.surprise import surprise

found = surprise(bert, trace.text_a, trace.text_b)
found.bits, found.pseudo_perplexity
"""
CODE["words.masking"] = """
from bertcore.analysis.words.masking_demo import corrupt

drawn = corrupt(bert, trace.text_a, trace.text_b, seed={seed}, masked_lm_prob={share})
drawn.shown, drawn.actions
"""
TEXTS["words.replaced"] = (
    "This checkpoint is an ELECTRA discriminator: it does not guess hidden words, it tells for "
    "each token whether somebody put it in the place of another. Write a wrong word in a sentence "
    "and see whether its box turns bright."
)
CODE["words.replaced"] = """
bert.replaced_tokens(trace.text_a, trace.text_b)        # [T]
"""
TEXTS["next.no_head"] = (
    "This checkpoint has no next-token head, so it predicts nothing; fine-tuned checkpoints often "
    "lost it."
)
TEXTS["next.strip"] = "Click a token to see what was expected in its place, given those before it."
TEXTS["next.words"] = (
    "Each bar is the probability of one piece of the vocabulary at this place, given only the "
    "tokens before it; all pieces together make 100%. The pink bar is the token that stands there."
)
TEXTS["next.surprise"] = (
    "Each token is guessed from those before it, in one run. Colour is its surprise in bits: 0 "
    "means it was certain, each bit more halves the probability. Below stands the model's own "
    "guess, ✓ if it was right. The first token ({first}) has nothing before it. The perplexity is "
    "**{perplexity}**: as if the model had to choose among so many equally likely pieces each time."
)
CODE["next.words"] = """
from bertcore.analysis.words.next_words import predict_next

found = predict_next(bert, trace.text_a, trace.text_b, [{place}], {top_k})
found.words, found.probabilities            # [1, k]
"""
CODE["next.surprise"] = """
from bertcore.analysis.words.next_words import next_surprise

found = next_surprise(bert, trace.text_a, trace.text_b)
found.bits, found.pseudo_perplexity
"""
