"""Strength, relevance, and how several needs are brought together."""

import numpy as np
import pytest

from prowess.discovery.fusion import Calibration, Floats, Scale, pooled

CALIBRATION = Calibration(Scale(10.0, 0.5, 1.0, 1.0, 1.0), Scale(0.0, 1.0, 1.0, 1.0, 2.0))


def floats(*values: float) -> Floats:
    return np.array(values, np.float32)


def test_relevance_is_even_at_zero_and_never_leaves_0_to_1() -> None:
    assert CALIBRATION.relevance(0.0) == 0.5
    assert 0.0 <= CALIBRATION.relevance(-1e9) < CALIBRATION.relevance(1e9) <= 1.0


def test_the_same_evidence_is_worth_less_in_a_larger_catalogue() -> None:
    small = CALIBRATION.strengths(floats(4), floats(0.5), None, 10)
    large = CALIBRATION.strengths(floats(4), floats(0.5), None, 10_000)
    assert large[0] < small[0]


def test_a_row_without_a_vector_is_judged_by_words_alone() -> None:
    strengths = CALIBRATION.strengths(floats(4, 4), floats(0.5, 0.0), np.array([True, False]), 10)
    alone = CALIBRATION.strengths(floats(4, 4), None, np.array([True, False]), 10)
    assert strengths[1] == alone[1] != strengths[0]


def test_the_clear_answers_of_two_needs_come_before_what_fits_neither() -> None:
    whole, first, second = floats(2, 2.5, 2), floats(6, 0, 0), floats(0, 0, 6)
    merged = pooled([whole, first, second], np.ones(3, np.bool_))
    assert merged is not None
    assert min(merged[0], merged[2]) > merged[1]


@pytest.mark.parametrize("vague", [floats(4, 4, 4), floats(1, 0, -9)], ids=["undecided", "weak"])
def test_needs_count_only_when_two_have_a_clear_answer(vague: Floats) -> None:
    assert pooled([floats(2, 2.5, 2), floats(6, 0, 0), vague], np.ones(3, np.bool_)) is None


def test_two_needs_with_the_same_answer_are_one() -> None:
    assert pooled([floats(6, 0, 0), floats(6, 0, 0), floats(7, 1, 0)], np.ones(3, np.bool_)) is None


def test_what_is_not_allowed_has_no_strength_and_answers_nothing() -> None:
    strengths = [floats(3, 3, 9), floats(6, 0, 9), floats(0, 6, 9)]
    merged = pooled(strengths, np.array([True, True, False]))
    assert merged is not None
    assert merged[2] == -np.inf
    assert pooled(strengths, np.zeros(3, np.bool_)) is None
