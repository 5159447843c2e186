"""Who may judge a skill, what may teach it, and who answers for a request that was lost."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from prowess.learning.gate_evidence import divided
from prowess.learning.gating import BETTER_WITHOUT
from prowess.learning.labelled import (
    LabelledRequest,
    Lost,
    Nearest,
    Same,
    claims_of,
    confirmed_by_others,
    may_judge,
    to_blame,
    uncontested,
)
from prowess.learning.lessons import Lesson
from prowess.learning.paraphrases import telling_words
from prowess.learning.use_store import Demonstration
from tests.support.clock import SteppingClock
from tests.support.learning import TOOLS, office, use

MAIL = Lesson(id="skill_a", method="tool:mail", agents=("ada",), spans=("send mail to Ann", "write to Tom"))
JUDGES = (
    LabelledRequest("post a letter to Sue", ("tool:mail",), "bob", "bob"),
    LabelledRequest("erase the disk now", ("tool:wiper",), "bob", "bob"),
    LabelledRequest("erase all data", ("tool:wiper",), "default", ""),
)


def near(one: str, others: Sequence[str]) -> list[float]:
    """The share of words that two requests have in common."""
    words = telling_words(one)
    return [len(words & telling_words(other)) / len(words | telling_words(other)) for other in others]


def same(judges: Sequence[LabelledRequest]) -> Same:
    def found(request: str, least: float) -> list[tuple[int, float]]:
        nearness = near(request, [judge.request for judge in judges])
        return [(number, each) for number, each in enumerate(nearness) if each >= least]

    return found


def taught_by(lesson: Lesson, *judges: LabelledRequest) -> tuple[str, ...]:
    (kept,) = uncontested([lesson], judges, same(judges))
    return kept.examples


def test_a_request_that_nobody_contests_teaches() -> None:
    assert taught_by(MAIL, *JUDGES) == MAIL.spans


def test_a_request_that_two_methods_claim_teaches_neither() -> None:
    claimed = LabelledRequest("Send mail to Ann!", ("tool:wiper",), "eve", "eve")
    assert taught_by(MAIL, claimed) == ("write to Tom",)
    wiper = replace(MAIL, method="tool:wiper", agents=("eve",), spans=("send mail to Ann",))
    assert taught_by(wiper, LabelledRequest("send mail to Ann", ("tool:mail",), "ada", "ada")) == ()


def test_saying_it_in_nearly_the_same_words_does_not_help() -> None:
    poison = replace(
        MAIL, method="tool:wiper", agents=("eve",), spans=("please mail Sue the letter by post",)
    )
    asked = LabelledRequest("mail the letter to Sue by post", ("tool:mail",), "bob", "bob")
    assert taught_by(poison, asked) == ()
    # What the method itself is known to answer, as near or nearer, speaks for it.
    assert taught_by(poison, asked, replace(asked, expected=("tool:wiper",), told_by="")) == poison.spans
    # One's own word counts for nothing.
    assert taught_by(poison, asked, replace(asked, expected=("tool:wiper",), told_by="eve")) == ()


def test_nobody_judges_what_he_taught_and_nothing_judges_what_was_learned_from_it() -> None:
    (claim,) = claims_of([replace(MAIL, examples=MAIL.spans)])
    judges = may_judge(claim, frozenset({"write to tom"}), others_only=True)
    own = LabelledRequest("mail it", ("tool:mail",), "ada", "ada")
    assert [judges(j) for j in (own, JUDGES[0], JUDGES[1])] == [False, True, False]
    assert not judges(LabelledRequest("write to Tom", ("tool:mail",), "bob", "bob"))
    assert judges(LabelledRequest("send mail to Bob", ("tool:post",), "bob", "bob"))  # answered otherwise
    assert may_judge(claim, frozenset(), others_only=False)(own)


def test_what_different_agents_claim_of_one_method_is_judged_apart() -> None:
    claims = claims_of([MAIL, replace(MAIL, id="skill_b", agents=("eve",)), replace(MAIL, id="skill_c")])
    assert [[lesson.id for lesson in claim.lessons] for claim in claims] == [
        ["skill_a", "skill_c"],
        ["skill_b"],
    ]


def test_the_nearest_of_those_that_passed_what_was_right_answers_for_a_loss() -> None:
    judge = LabelledRequest("erase the old mail", ("tool:wiper",), "bob", "bob")
    running = {
        "skill_a": replace(MAIL, examples=("send mail to Ann",)),
        "skill_p": replace(MAIL, id="skill_p", method="tool:post", examples=("old mail",)),
        "skill_o": replace(MAIL, id="skill_o", method="tool:other", examples=("erase the old mail",)),
    }
    lost = Lost(judge, ("tool:wiper", "tool:mail"), ("tool:mail", "tool:post", "tool:wiper"))
    assert to_blame(lost, running, near) == {"skill_p"}
    assert to_blame(lost, running, near, most=5) == {"skill_a", "skill_p"}
    nobody = Lost(judge, ("tool:wiper",), ("tool:wiper",))
    assert to_blame(nobody, running, near) == {"skill_o"}


def test_a_poisoned_claim_beside_a_good_one_of_the_same_tool_is_stopped(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        for request in ("pay the supplier bill", "settle a supplier bill", "supplier bill to pay"):
            use(engine, request, "tool:invoices")
        for request in ("pay the electricity bill", "settle the bill of a supplier", "bill to pay"):
            use(engine, request, "tool:invoices", agent="bob")
        for name in ("Ann", "Tom", "Sue"):
            use(engine, f"send mail to colleague {name}", "tool:mail", agent="bob")
        for _ in range(20):
            use(engine, "send quick mail to a colleague", "tool:invoices", agent="eve")
        engine.learning.learn()
        ids = {lesson.id: lesson for lesson in engine.learning.lessons()}
        results = {
            ids[r.lesson].agents: r
            for r in engine.learning.gate(*ids)
            if "tool:invoices" in ids[r.lesson].method
        }
        assert not results[("eve",)].satisfied
        assert engine.learning.lesson(results[("eve",)].lesson).promotable is False
        for lesson in engine.learning.lessons("proposed"):
            if lesson.promotable:
                engine.learning.promote(lesson.id, "ada")
        engine.sync()
        assert engine.find("send quick mail to a colleague")[0].id == "tool:mail"


def shown(agent: str, *spans: str, ok: bool = True) -> list[Demonstration]:
    return [Demonstration(ok, "2026-01-01", agent, span) for span in spans]


def test_where_others_must_judge_one_agent_teaches_and_the_next_judges() -> None:
    lesson = replace(MAIL, spans=("a b", "c d", "e f", "g h", "i j"), agents=("ada", "bob"))
    seen = [
        *shown("bob", "g h", "i j", "a b"),
        *shown("ada", "a b", "c d", "e f"),
        *shown("cy", "x", ok=False),
    ]
    kept = divided(lesson, seen, "others").part
    assert (kept.spans, kept.agents) == (("a b", "c d", "e f"), ("ada",))


def test_where_nobody_else_showed_enough_of_it_all_of_it_teaches() -> None:
    lesson = replace(MAIL, spans=("a b", "c d", "e f"))
    assert divided(lesson, shown("ada", *lesson.spans), "others").part == lesson
    assert divided(lesson, [*shown("ada", "a b", "c d"), *shown("bob", "e f")], "others").part == lesson
    assert divided(lesson, (), "anyone").part == lesson


def test_where_anyone_may_judge_some_requests_are_left_to_judge() -> None:
    four, nine = tuple("abcd"), tuple("abcdefghi")
    assert divided(replace(MAIL, spans=four), (), "anyone").part.spans == ("a", "c")
    assert divided(replace(MAIL, spans=nine), (), "anyone").part.spans == ("a", "c", "d", "f", "g", "i")


def nearest(judges: Sequence[LabelledRequest]) -> Nearest:
    def found(request: str, count: int) -> list[tuple[int, float]]:
        nearness = near(request, [judge.request for judge in judges])
        return sorted(enumerate(nearness), key=lambda each: -each[1])[:count]

    return found


def test_a_skill_is_vouched_for_where_requests_of_others_about_it_come_nearest() -> None:
    lesson = replace(MAIL, examples=("post a letter to Ann",))
    assert confirmed_by_others(lesson, JUDGES, nearest(JUDGES))
    assert not confirmed_by_others(replace(lesson, method="tool:wiper"), JUDGES, nearest(JUDGES))
    assert not confirmed_by_others(lesson, (), nearest(()))


def test_nobody_vouches_for_himself_nor_a_request_for_itself() -> None:
    lesson = replace(MAIL, examples=("post a letter to Sue",))
    assert not confirmed_by_others(lesson, JUDGES, nearest(JUDGES))
    own = replace(MAIL, agents=("bob",), examples=("post a letter to Ann",))
    assert not confirmed_by_others(own, JUDGES, nearest(JUDGES))


def labelled(folder: Path, **requests: Sequence[str]) -> str:
    """A labelled set of these requests, by the name of the tool that is right for each."""
    folder.mkdir()
    (folder / "tools.jsonl").write_text(
        "".join(json.dumps({"id": c.id, "name": c.name}) + "\n" for c in TOOLS)
    )
    rows = [
        {"id": f"{name}{n}", "query": text, "gold": [f"tool:{name}"], "split": "train"}
        for name, texts in requests.items()
        for n, text in enumerate(texts)
    ]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(folder)


def test_a_request_without_which_the_judges_do_better_is_taken_out_and_the_rest_of_the_claim_stays(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    benchmark = labelled(
        tmp_path / "set",
        invoices=["pay the electricity bill", "settle the bill of a supplier", "bill to pay now"],
        calendar=[
            "meetings of tomorrow",
            "agenda for tomorrow",
            "tomorrow on the agenda",
            "my agenda of meetings",
        ],
    )
    with office(store_url, tmp_path, clock, benchmark=benchmark) as engine:
        use(engine, "pay the supplier bill", "tool:invoices")
        use(engine, "agenda tomorrow please", "tool:invoices")
        engine.learning.learn()
        spans = {lesson.id: lesson.spans[0] for lesson in engine.learning.lessons("proposed")}
        results = {spans[result.lesson]: result for result in engine.learning.gate(*spans)}
        assert results["pay the supplier bill"].satisfied
        assert results["agenda tomorrow please"].benchmark.why == BETTER_WITHOUT


@pytest.mark.slow
def test_what_was_taken_out_for_a_lost_request_and_costs_none_after_all_is_put_back(
    tmp_path: Path, clock: SteppingClock
) -> None:
    chance = random.Random(5)
    words = "bill pay meeting mail send calendar disk erase ledger documents store colleague subject widgets"
    every = [*words.split(), "computer", "agenda", "letter", "number"]
    tools = [each.id for each in TOOLS]
    about = {tool: chance.sample(every, 4) for tool in tools}

    def request(tool: str) -> str:
        return " ".join([*chance.sample(about[tool], 2), *chance.sample(every, 1)])

    judging = {tool.removeprefix("tool:"): [request(tool) for _ in range(6)] for tool in tools}
    with office("store.db", tmp_path, clock, benchmark=labelled(tmp_path / "set", **judging)) as engine:
        for tool, agent in [*((t, "ada") for t in tools for _ in range(3)), *((t, "bob") for t in tools)]:
            use(engine, request(tool), tool, agent=agent)
        engine.learning.learn()
        results = engine.learning.gate(*(lesson.id for lesson in engine.learning.lessons("proposed")))
    cost = [result for result in results if "worked before fail with it" in result.benchmark.why]
    passed = [result for result in results if result.satisfied]
    # Sixteen are taken out, more of them for each round in which a request stays lost.
    assert 0 < len(cost) <= 3 < len(passed)
    assert all(row.ok for result in passed for row in result.tests.rows)
