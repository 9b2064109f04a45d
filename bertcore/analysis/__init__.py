"""What a model computes: measures of a trace, or of a model and texts, as numbers.

`on_fraction` and `progress` are called with the fraction done, and may raise to end the work.
"""

from typing import TYPE_CHECKING

from bertcore.base.public import deferred

if TYPE_CHECKING:
    from bertcore.analysis import attribution, bias, corpus, probes
    from bertcore.analysis.compare.before_after import compare_runs
    from bertcore.analysis.compare.checkpoints import (
        compare_answers,
        compare_heads,
        compare_text,
        head_in_both,
        questions,
        run_both,
    )
    from bertcore.analysis.compare.cka import layer_similarity
    from bertcore.analysis.compare.decision import Decisions, open_decisions, pretraining_decisions
    from bertcore.analysis.compare.minimal_pair import (
        aligned_attention,
        aligned_likelihoods,
        compare_pair,
    )
    from bertcore.analysis.compare.phases import two_phases
    from bertcore.analysis.compare.steering import steer_by_words
    from bertcore.analysis.compare.task_shift import compare_task
    from bertcore.analysis.compare.texts import compare_layers
    from bertcore.analysis.compare.weight_drift import step_drift, train_once, weight_drift
    from bertcore.analysis.compare.what_if import what_if
    from bertcore.analysis.heads.attention import (
        all_neurons,
        attention_map,
        attention_overview,
        decoder_trace,
        given_attention,
        head_steps,
        layer_attention,
        norm_map,
        rollout_map,
        zeroing_map,
    )
    from bertcore.analysis.heads.importance import rank_heads
    from bertcore.analysis.heads.measures import measure_heads
    from bertcore.analysis.heads.report import report_heads
    from bertcore.analysis.heads.sinks import find_sinks
    from bertcore.analysis.heads.texts import (
        HeadTexts,
        bundled_sentences,
        bundled_trees,
        read_texts,
    )
    from bertcore.analysis.health.checkpoint_doctor import examine
    from bertcore.analysis.health.parameters import count_parameters
    from bertcore.analysis.mixing.head_rows import head_rows
    from bertcore.analysis.mixing.layer_parts import layer_parts, passage
    from bertcore.analysis.mixing.layer_stages import layer_stages
    from bertcore.analysis.mixing.neurons import allowed_keys, head_neurons
    from bertcore.analysis.mixing.norm_weighted import summed_norms, weighted_norms
    from bertcore.analysis.mixing.rollout import attention_rollout, normalize_rows
    from bertcore.analysis.mixing.toy_head import toy_head
    from bertcore.analysis.mixing.value_zeroing import value_zeroing
    from bertcore.analysis.objectives.demo import count_objective, objective_example, try_objectives
    from bertcore.analysis.objectives.equal_time import equal_time
    from bertcore.analysis.patching import (
        PatchPair,
        PatchText,
        bundled_texts,
        patch,
        patch_pair,
        patch_pairs,
        patch_versions,
        word_answer,
    )
    from bertcore.analysis.runs import formed_head, read_curves, replay
    from bertcore.analysis.shared.collect import collect_sentences, collect_tokens, whole_words
    from bertcore.analysis.shared.inputs import masked_encoding
    from bertcore.analysis.space.embeddings import (
        leave_one_out,
        nearest_words,
        norm_numbers,
        sum_numbers,
        token_columns,
    )
    from bertcore.analysis.space.geometry import cosines, geometry
    from bertcore.analysis.space.given_vectors import map_vectors
    from bertcore.analysis.space.map_quality import map_faithfulness, separation
    from bertcore.analysis.space.nearest import nearest_to, nearest_tokens, token_vectors
    from bertcore.analysis.space.points import (
        PointChoice,
        collect_points,
        map_points,
        point_cosines,
        point_similarity,
    )
    from bertcore.analysis.space.position_table import (
        position_similarity,
        position_tables,
        rotations,
    )
    from bertcore.analysis.space.projection import map_layers
    from bertcore.analysis.words.candidates import score_candidates
    from bertcore.analysis.words.continuation import continue_text, write_both, write_with_masks
    from bertcore.analysis.words.continuation_scores import score_continuations
    from bertcore.analysis.words.epoch_masks import both_masks, corrupt, epoch_masks
    from bertcore.analysis.words.head_steps import masked_word_steps, pooler_steps
    from bertcore.analysis.words.leakage import paths_back, words_returned
    from bertcore.analysis.words.lens import layer_predictions, word_trajectories
    from bertcore.analysis.words.logit_attribution import logit_attribution
    from bertcore.analysis.words.next_sentence import (
        attention_mass,
        next_sentence_matrix,
        pair_answer,
        pair_attention,
        pair_order,
        pair_rates,
        pair_variants,
    )
    from bertcore.analysis.words.next_words import next_surprise, predict_next
    from bertcore.analysis.words.predictions import predict_masks, replaced_tokens
    from bertcore.analysis.words.readings import (
        read_apart,
        read_both_sides,
        read_left,
        read_one_side,
        read_three_ways,
    )
    from bertcore.analysis.words.sentence_similarity import shared_words, similarities
    from bertcore.analysis.words.surprise import surprise
    from bertcore.analysis.words.token_in_layer import token_in_layer
    from bertcore.analysis.words.training_example import one_step, training_example
    from bertcore.analysis.words.vocabulary import measure_sizes, unigram_ways, vocabulary_growth
else:
    __getattr__, __dir__, __all__ = deferred(__name__, __file__)
