"""Catalogues written by hand: tools, requests, and what a careless line does."""

from pathlib import Path

import pytest

from tests.support.places import ROOT
from train.catalogues import read_catalogue, sets_of

SHIPPED = ROOT / "train" / "catalogues"
CATALOGUE = """# Parcel desk | Where parcels are
@find_parcel | Where a parcel is. | number: printed on it; day: when it was sent
Has my lamp left Bremen?
where is P-7
@call_courier | Have a parcel fetched. |
Somebody should pick this box up on Friday.

+find_parcel, call_courier | If P-7 is still in the shop, have it fetched.
"""


def write(folder: Path, name: str, text: str = CATALOGUE) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_request_belongs_to_the_tool_above_it_and_a_joint_one_to_all_it_names(tmp_path: Path) -> None:
    read = read_catalogue(write(tmp_path, "parcels"))
    assert [tool.name for tool in read.tools] == ["find_parcel", "call_courier"]
    assert read.tools[0].parameters == {"number": "printed on it", "day": "when it was sent"}
    assert {tool.category for tool in read.tools} == {"Parcel desk"}
    find, call = (tool.id for tool in read.tools)
    assert [query.gold for query in read.queries] == [(find,), (find,), (call,), (find, call)]


def test_a_request_for_a_tool_that_is_not_there_is_refused_with_its_file(tmp_path: Path) -> None:
    path = write(tmp_path, "parcels", CATALOGUE.replace("@call_courier", "@send_courier"))
    with pytest.raises(SystemExit, match=r"parcels\.txt.*call_courier"):
        read_catalogue(path)


def test_catalogues_that_sell_the_same_things_are_kept_apart(tmp_path: Path) -> None:
    for folder in ("plugins", "daily"):
        write(tmp_path / folder, "one")
        write(tmp_path / folder, "two")
    assert [made.name for made in sets_of(tmp_path / "daily")] == ["written_daily"]
    assert [made.name for made in sets_of(tmp_path / "plugins")] == [
        "written_plugins_one",
        "written_plugins_two",
    ]


def test_every_shipped_catalogue_can_be_read_and_asks_for_every_tool() -> None:
    made = [one for folder in sorted(SHIPPED.iterdir()) for one in sets_of(folder)]
    asked = {id for one in made for query in one.queries for id in query.gold}
    assert {tool.id for one in made for tool in one.tools} == asked
    assert sum(len(one.queries) for one in made) > 20_000
