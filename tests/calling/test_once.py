"""Nothing is done twice, and nothing that was cut off is hidden."""

import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from prowess import ToolCall
from prowess.opening import now
from prowess.store.opening import open_database
from tests.calling.programs import Workshop, kinds, program


def test_the_same_key_answers_with_the_first_result(store_url: str, tmp_path: Path) -> None:
    made = Workshop()
    with program(tmp_path, store_url, workshop=made) as engine:
        first = engine.call("send_mail", {"to": "ann"}, key="order-7")
        again = engine.call("send_mail", {"to": "ann"}, key="order-7")
        assert first.value == again.value and made.done == ["mail ann"]
        assert engine.call("send_mail", {"to": "bob"}, key="order-7").ending == "misfit"
        assert engine.call("add", {"a": 1}, key="order-7").ending == "misfit"
        assert engine.call("send_mail", {"to": "bob"}, key="order-8").ending == "ok"
        assert [entry.data["ok"] for entry in engine.journal.latest(50, type="outcome")] == [True, True]
    with program(tmp_path, store_url, workshop=made) as engine:
        assert engine.call("send_mail", {"to": "ann"}, key="order-7").value == first.value
    assert made.done == ["mail ann", "mail bob"]


def test_a_call_that_failed_is_not_made_again_under_its_key(tmp_path: Path) -> None:
    with program(tmp_path) as engine:
        first = engine.call("fails", {"why": "no paper"}, key="k")
        assert engine.call("fails", {"why": "no paper"}, key="k").text == first.text
        assert len(engine.journal.latest(50, type="outcome")) == 1


def test_what_was_refused_leaves_its_key_free(tmp_path: Path) -> None:
    with program(tmp_path) as engine:
        assert engine.call("send_mail", {}, key="k").ending == "misfit"
        assert engine.call("send_mail", {"to": "ann"}, key="k").ending == "ok"


def test_two_at_once_with_one_key_do_it_once(store_url: str, tmp_path: Path) -> None:
    made = Workshop()
    with program(tmp_path, store_url, workshop=made) as engine:
        threads, endings = [], []

        def call() -> None:
            endings.append(engine.call("send_mail", {"to": "ann"}, key="k").ending)

        for _ in range(6):
            threads.append(threading.Thread(target=call))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(endings) <= {"ok", "unknown"} and "ok" in endings
    assert made.done == ["mail ann"]


def test_a_call_with_effects_is_written_down_before_it_is_made(store_url: str, tmp_path: Path) -> None:
    with program(tmp_path, store_url) as engine:
        engine.call_many([ToolCall(name="send_mail", arguments={"to": "ann"})])
        assert kinds(engine) == ["decision", "call.begun", "call", "outcome"]
        assert engine.calls.open() == ()


CALLER = """
import os, sys
from pathlib import Path
from tests.calling.programs import Workshop, program

class Cut(Workshop):
    @property
    def functions(self):
        import prowess
        @prowess.tool
        def send_mail(to: str) -> str:
            "Send a mail to somebody."
            os.kill(os.getpid(), 9)
        return (send_mail,)

with program(Path(sys.argv[1]), sys.argv[2], workshop=Cut()) as engine:
    engine.call("send_mail", {"to": "ann"}, key="order-9")
"""


@pytest.mark.slow
def test_a_call_that_was_cut_off_is_an_open_intent_until_a_person_has_looked(
    store_url: str, tmp_path: Path
) -> None:
    killed = subprocess.run([sys.executable, "-c", CALLER, str(tmp_path), store_url], timeout=60)
    assert killed.returncode == -9
    made = Workshop()
    with program(tmp_path, store_url, workshop=made) as engine:
        (cut_off,) = engine.calls.open()
        assert (cut_off.capability, cut_off.key) == ("tool:send_mail", "order-9")
        (problem,) = [one for one in engine.diagnose() if one.source == "calls"]
        assert "it may have taken effect" in problem.what
        again = engine.call("send_mail", {"to": "ann"}, key="order-9")
        assert again.ending == "unknown" and "It is not done a second time." in again.text
        assert made.done == []
        engine.calls.settle(cut_off.id, by="ann", note="it did not go out")
        assert engine.calls.open() == ()
        assert engine.call("send_mail", {"to": "ann"}, key="order-9").ending == "ok"
        engine.journal.verify()


def test_a_result_expires_and_its_key_is_free_again(store_url: str, tmp_path: Path) -> None:
    made = Workshop()
    with program(tmp_path, store_url, workshop=made) as engine:
        engine.call("send_mail", {"to": "ann"}, key="k")
        database = open_database(store_url, tmp_path)
        with database.writing() as transaction:
            old = (now() - timedelta(hours=25)).isoformat()
            transaction.run("UPDATE call SET ended_at = :old WHERE workspace = :workspace", old=old)
        database.close()
        engine.call("send_mail", {"to": "ann"}, key="k")
    assert made.done == ["mail ann", "mail ann"]
