"""A gate says what it used, what else it takes, and which setting would do."""

from pathlib import Path

from tests.support.clock import SteppingClock
from tests.support.learning import office, use


def test_the_result_names_what_was_used_what_more_is_needed_and_which_setting_would_do(
    tmp_path: Path, clock: SteppingClock
) -> None:
    with office(f"sqlite:{tmp_path / 'store.db'}", tmp_path, clock) as engine:
        for one in ("sink", "bath", "bath"):
            use(engine, f"pay the plumber for the {one}", "tool:invoices")
        use(engine, "the meetings of today", "tool:calendar", agent="bob")
        engine.learning.learn()
        for id in [one.id for one in engine.learning.lessons() if one.method == "tool:invoices"]:
            said = engine.learning.gate(id)[0].benchmark
            assert "3 uses in 2 wordings, 1 repeat one word for word and add nothing" in said.used
            assert "2 requests in other words by an agent other than ada" in said.remedy
            assert 'or judges = "anyone" in [learning], then 2 more requests' in said.remedy
