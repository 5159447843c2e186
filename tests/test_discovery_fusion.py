"""Strength, relevance, and how several needs are brought together."""

import numpy as np

from prowess.discovery.fusion import Calibration, Scale, pooled

CALIBRATION = Calibration(Scale(10.0, 0.5, 1.0, 1.0, 1.0), Scale(0.0, 1.0, 1.0, 1.0, 2.0))


def floats(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, np.float32)


def test_relevance_is_even_at_zero_and_never_leaves_0_to_1() -> None:
    assert CALIBRATION.relevance(0.0) == 0.5
    assert 0.0 <= CALIBRATION.relevance(-1e9) < CALIBRATION.relevance(1e9) <= 1.0


def test_the_same_evidence_is_worth_less_in_a_larger_catalogue() -> None:
    known = np.array([True])
    small = CALIBRATION.strengths(floats(4), floats(0.5), known, 10)
    large = CALIBRATION.strengths(floats(4), floats(0.5), known, 10_000)
    assert large[0] < small[0]


def test_a_row_without_a_vector_is_judged_by_words_alone() -> None:
    strengths = CALIBRATION.strengths(floats(4, 4), floats(0.5, 0.0), np.array([True, False]), 10)
    alone = CALIBRATION.strengths(floats(4, 4), None, np.array([True, False]), 10)
    assert strengths[1] == alone[1] != strengths[0]


def test_one_need_keeps_its_strengths_and_what_is_not_allowed_has_none() -> None:
    merged = pooled([floats(1, 2, 3)], np.array([True, True, False]))
    assert merged.tolist() == [1.0, 2.0, -np.inf]


def test_the_clear_answers_of_two_needs_come_before_what_fits_neither() -> None:
    whole, first, second = floats(2, 2.5, 2), floats(6, 0, 0), floats(0, 0, 6)
    merged = pooled([whole, first, second], np.ones(3, np.bool_))
    assert min(merged[0], merged[2]) > merged[1]


def test_needs_without_a_clear_answer_change_nothing() -> None:
    whole, vague = floats(2, 2.5, 2), floats(1, 1, 1)
    everything = np.ones(3, np.bool_)
    assert pooled([whole, vague, vague], everything).tolist() == whole.tolist()


def test_with_nothing_allowed_nothing_has_a_strength() -> None:
    none = np.zeros(2, np.bool_)
    assert pooled([floats(1, 2), floats(3, 4), floats(5, 6)], none).tolist() == [-np.inf, -np.inf]
