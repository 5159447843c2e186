"""Counting tokens: the estimate stays near the exact count, and both are repeatable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.tokens import CHINESE as OTHER_CHINESE
from prowess.token_counts import counter, estimate
from tests.support.places import ROOT, TESTS

ENGLISH = (ROOT / "LICENSE").read_text()
CODE = "".join(path.read_text() for path in sorted(TESTS.rglob("test_*.py")))
CHINESE = """
这个程序读取所有来源，并把它们提供的能力放在一个目录中。如果某个文件无法读取，就跳过它，并说明原因和解决办法。
在终端中运行 prowess sync 命令，可以更新能力目录；运行 prowess doctor 命令，可以查看所有的问题。
参数 --json 表示以 JSON 格式输出数据。默认的存储位置是 .prowess/prowess.db，也可以使用 PostgreSQL 数据库。
令牌预算是硬性限制：任何一层都不会超过它的预算，放不下的内容会在结果中列出。
"""


def test_the_estimate_is_near_the_exact_count_for_english_code_and_chinese() -> None:
    exact = counter()
    assert exact.name == "o200k"
    for text in (ENGLISH, CODE, CHINESE):
        assert abs(estimate(text) / exact.count(text) - 1) < 0.1


@pytest.mark.parametrize("texts", OTHER_CHINESE.values(), ids=OTHER_CHINESE.keys())
def test_the_estimate_is_near_for_both_scripts_in_prose_and_in_descriptions(texts: tuple[str, ...]) -> None:
    exact = sum(map(counter().count, texts))
    assert abs(sum(map(estimate, texts)) / exact - 1) < 0.1


def test_the_estimate_serves_where_no_vocabulary_is_wanted() -> None:
    assert counter(exact=False).name == "estimate"
    assert counter(exact=False).count(ENGLISH) == estimate(ENGLISH)


def test_nothing_costs_nothing_and_anything_costs_something() -> None:
    assert estimate("") == 0
    assert estimate("\u200b") >= 1


@given(st.text(max_size=200), st.text(max_size=200))
def test_more_text_never_costs_less(text: str, more: str) -> None:
    assert estimate(text + "\n" + more) >= estimate(text)
