"""What holds of every policy, whatever it says."""

from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import ProwessError
from prowess.policy.check import findings
from prowess.policy.definitions import define
from prowess.policy.documents import parse_yaml
from prowess.policy.globs import glob_matches
from prowess.policy.patterns import CatalogueNames, Pattern, event_pattern, tool_patterns
from prowess.policy.resolve import AllowedIds, judge, reach, resolve
from prowess.policy.ruleset import RuleSet
from prowess.policy.snapshot import PolicySnapshot
from tests.support.policies import IDS, KEYS, LISTS, MUCH_TO_DRAW, PATTERNS, moments, policies
from tests.support.policy import existing


def reached(rules: RuleSet, ids: list[str], profile: str = "p") -> AllowedIds:
    return reach(rules.holding(profile), CatalogueNames(existing(*ids).capabilities), rules.host_names)


@MUCH_TO_DRAW
@given(moments(), st.sampled_from(["ada", "bob", "eve"]), st.booleans())
def test_following_one_id_gives_the_same_verdict_as_finding_everything_at_once(
    moment: PolicySnapshot, agent: str, authenticated: bool
) -> None:
    found = moment.allowed(agent, authenticated)
    for id in {*moment.capabilities, *found.allow, *found.ask}:
        expected = "allow" if id in found.allow else "ask" if id in found.ask else "deny"
        assert moment.decide(agent, id, authenticated).verdict == expected


@given(policies(), st.lists(IDS, max_size=12))
def test_disallowed_always_wins(policy: dict[str, object], ids: list[str]) -> None:
    rules = RuleSet.of([define(policy)])
    found = reached(rules, ids)
    names = CatalogueNames(existing(*ids).capabilities)
    denials = [rule.pattern for rule in rules.holding("p").profile.disallowed if rule.pattern.when is None]
    assert not [id for id in found.allow | found.ask for pattern in denials if names.matches(pattern, id)]


@given(policies(), st.lists(IDS, max_size=12), st.randoms())
def test_resolving_is_deterministic(policy: dict[str, object], ids: list[str], random: object) -> None:
    shuffled = list(ids)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = (RuleSet.of([define(policy)]) for _ in range(2))
    assert resolve(one, "p", CatalogueNames(existing(*ids).capabilities)) == resolve(
        other, "p", CatalogueNames(existing(*shuffled).capabilities)
    )


@given(policies(), st.lists(IDS, max_size=12), LISTS)
def test_another_grant_never_takes_anything_away(
    policy: dict[str, object], ids: list[str], patterns: list[str]
) -> None:
    before = reached(RuleSet.of([define(policy)]), ids)
    more = {
        "grants": {"z": {"event_patterns": patterns}},
        "profiles": {"q": {"extends": "p", "capabilities": {"z": True}}},
    }
    after = reached(RuleSet.of([define(policy), define(more)]), ids, "q")
    assert before.allow | before.ask <= after.allow | after.ask
    assert before.allow <= after.allow


@given(policies(), policies(), st.lists(IDS, max_size=12))
def test_what_a_child_has_within_its_parent_is_a_part_of_both(
    child: dict[str, object], parent: dict[str, object], ids: list[str]
) -> None:
    one, other = reached(RuleSet.of([define(child)]), ids), reached(RuleSet.of([define(parent)]), ids)
    both = one.within(other)
    assert both.allow <= one.allow & other.allow
    assert both.allow | both.ask == (one.allow | one.ask) & (other.allow | other.ask)


@given(PATTERNS, PATTERNS, st.lists(IDS, max_size=20))
def test_a_pattern_that_covers_another_matches_whatever_that_matches(
    wide: str, narrow: str, ids: list[str]
) -> None:
    one, other = event_pattern(wide, "test"), event_pattern(narrow, "test")
    if one.covers(other):
        assert not [id for id in ids if other.matches(id) and not one.matches(id)]


@given(st.text(alphabet="ab*:", min_size=1, max_size=8), st.text(alphabet="ab:", max_size=10))
def test_a_glob_matches_as_its_definition_says(glob: str, name: str) -> None:
    def matches(pattern: str, text: str) -> bool:
        if not pattern:
            return not text
        if pattern[0] == "*":
            return any(matches(pattern[1:], text[at:]) for at in range(len(text) + 1))
        return bool(text) and text[0] == pattern[0] and matches(pattern[1:], text[1:])

    if "*" in glob:
        assert glob_matches(glob, name) == matches(glob, name)


@given(PATTERNS, st.lists(IDS, max_size=20))
def test_the_index_finds_exactly_what_matches(text: str, ids: list[str]) -> None:
    pattern: Pattern
    for pattern in tool_patterns(text, "test"):
        found = CatalogueNames(existing(*ids).capabilities).matching(pattern)
        assert set(found) == {id for id in ids if not id.startswith("host:") and pattern.matches(id)}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_any_values_at_all_are_a_policy_or_a_clear_error(document: dict[str, object]) -> None:
    try:
        rules = RuleSet.of([define(document)])
    except ProwessError as error:
        assert error.remedy
    else:
        findings(rules, CatalogueNames({}))


@given(st.text(alphabet="grants:profiles{}[]-*&'\"\n \t<#|>!x1", max_size=60))
def test_any_text_at_all_is_a_policy_or_a_clear_error(text: str) -> None:
    try:
        define(parse_yaml(text, "policy.yaml"), "policy.yaml")
    except ProwessError as error:
        assert error.remedy


ARGUMENTS = st.one_of(
    st.none(),
    st.builds(lambda amount: {"amount": amount}, st.sampled_from([1, 1000, "1", None])),
    st.just({}),
)


@given(policies(), st.lists(IDS, max_size=12), ARGUMENTS)
def test_what_arguments_decide_is_never_more_than_what_is_offered(
    policy: dict[str, object], ids: list[str], arguments: dict[str, object] | None
) -> None:
    rules = RuleSet.of([define(policy)])
    catalogue = existing(*ids).capabilities
    for id in ids:
        offered = judge(rules.holding("p"), id, catalogue.get(id))
        used = judge(rules.holding("p"), id, catalogue.get(id), arguments=arguments)
        order = ("allow", "ask", "deny")
        if not offered.conditions:
            assert used.verdict == offered.verdict
        assert offered.verdict != "deny" or used.verdict == "deny"
        if not any("without asking" in said for said in offered.conditions):
            assert order.index(used.verdict) >= order.index(offered.verdict)
