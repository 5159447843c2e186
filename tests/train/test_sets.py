"""Sets to learn from, made of what publishers, packagers and programmers say about their own work."""

import json
from pathlib import Path
from random import Random

import pytest

from train.bench import Bench, Query, Tool, read_bench, write_bench
from train.debian import Package, askable, read_index, translated_set
from train.docstrings import bench_of, functions_of
from train.openapi import operations_of, read_documents, sets_of
from train.written import read_requests, written_set

DOCUMENT = {
    "info": {"title": "Parcels"},
    "paths": {
        "/parcels/{id}": {
            "parameters": [{"name": "id", "description": "Number of the parcel", "example": "P-7"}],
            "get": {
                "operationId": "getParcel",
                "summary": "Where a parcel is",
                "description": "Returns the <b>last place</b> a courier [scanned](http://x.test) it. More.",
            },
            "delete": {"operationId": "no", "summary": "short"},
        }
    },
}
INDEX = """Package: shrinkpic
Description-md5: 01
Description-en: makes photos smaller without losing detail
 Shrinkpic reads photos of any kind and writes smaller ones. It keeps what
 the eye can see.
 .
 A second paragraph.

Package: libshrink-dev
Description-md5: 02
Description-en: makes photos smaller, development files
 Headers for programs that want to make photos smaller without losing detail.
"""
FUNCTION = '''
def wrap(points, margin=0):
    """Draw the smallest fence around points.

    The fence is convex and touches at least three of the points given to it.

    Parameters
    ----------
    points : list
    """


def _hidden():
    """Draw nothing that anybody could want.

    This must never be found, however long its description may be, for it is private.
    """
'''


def test_an_operation_is_asked_for_by_its_summary_and_told_by_its_description() -> None:
    (operation,) = operations_of(DOCUMENT, "parcels.test")
    assert operation.summary == "Where a parcel is"
    assert operation.tool.description == "Returns the last place a courier scanned it. More."
    assert operation.tool.parameters == {"id": "Number of the parcel e.g. P-7"}


def test_where_one_text_says_both_its_first_sentence_asks_and_the_rest_tells() -> None:
    told = {"description": "Finds every parcel of a street. Only those of today."}
    (operation,) = operations_of({"paths": {"/street": {"post": told}}}, "parcels.test")
    assert (operation.summary, operation.tool.description) == (
        "Finds every parcel of a street",
        "Only those of today.",
    )


def test_documents_become_sets_that_can_be_read_again(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "parcels.test.json").write_text(json.dumps(DOCUMENT))
    (made,) = sets_of(read_documents(tmp_path / "documents", Random(1)))
    write_bench(made, tmp_path)
    assert read_bench(tmp_path / made.name) == made
    assert [query.text for query in made.of_split("train")] == ["Where a parcel is"]


def test_a_package_is_told_by_its_first_paragraph_and_parts_of_programs_are_left_out() -> None:
    found = list(read_index(INDEX.splitlines(keepends=True)))
    (package,) = filter(askable, found)
    assert package == Package(
        "shrinkpic",
        "01",
        "makes photos smaller without losing detail",
        "Shrinkpic reads photos of any kind and writes smaller ones. It keeps what the eye can see.",
    )


def test_a_translated_synopsis_asks_for_the_package_described_in_english() -> None:
    (english, _) = read_index(INDEX.splitlines(keepends=True))
    german = Package("shrinkpic", "01", "macht Fotos kleiner", "")
    made = translated_set("debian_de", [english], [german])
    assert [query.text for query in made.queries] == ["macht Fotos kleiner"]
    assert made.tools[0].description == english.description


def test_a_function_is_asked_for_by_the_first_line_of_its_docstring(tmp_path: Path) -> None:
    package = tmp_path / "fences"
    package.mkdir()
    (package / "shapes.py").write_text(FUNCTION)
    (package / "broken.py").write_text("def (:")
    made = bench_of("python_0", list(functions_of(package)))
    assert [query.text for query in made.queries] == ["Draw the smallest fence around points"]
    assert made.tools == (
        Tool(
            "fences.shapes.wrap",
            "wrap",
            "The fence is convex and touches at least three of the points given to it.",
            {"points": "", "margin": ""},
            "shapes",
        ),
    )


@pytest.mark.parametrize("asked_for", [("mail",), ("mail", "fax")])
def test_written_requests_make_a_set_beside_the_one_whose_tools_they_ask_for(
    tmp_path: Path, asked_for: tuple[str, ...]
) -> None:
    lines = ["\t".join((*asked_for, "write to my boss")), "unknown\tnever mind", "mail\tunknown\tnor this"]
    (tmp_path / "written.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    bench = Bench(
        "post", (Tool("mail", "mail"), Tool("fax", "fax")), (Query("q", "x", ("fax",), {}, "train"),)
    )
    made = written_set(bench, read_requests(tmp_path / "written.tsv"))
    assert made.name == "written_post"
    assert made.tools == bench.tools
    assert [(query.text, query.gold) for query in made.queries] == [("write to my boss", asked_for)]
