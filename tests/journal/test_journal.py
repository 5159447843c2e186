"""The journal: append-only, ordered, and it tells when somebody tampered."""

import pytest

from prowess.errors import JournalBroken
from prowess.journal import Journal, Raw
from prowess.store.database import Database
from tests.support.clock import SteppingClock


@pytest.fixture
def journal(database: Database, clock: SteppingClock) -> Journal:
    return Journal(database, clock)


def write(journal: Journal, count: int, agent: str = "ada") -> None:
    for number in range(count):
        journal.record(Raw("note", {"n": number, "text": "100% — “ünïcode”"}), agent)


def edit(database: Database, sql: str) -> None:
    with database.writing() as transaction:
        transaction.run(sql)


def test_an_untouched_journal_verifies(journal: Journal) -> None:
    write(journal, 3)
    write(journal, 2, agent="")
    assert [(h.chain, h.count) for h in journal.verify()] == [("", 2), ("ada", 3)]


def test_entries_come_back_as_they_were_written(journal: Journal) -> None:
    written = journal.record(
        Raw("note", {"nested": {"list": [1, 2.5, None, True]}, "null byte": "\0"}), "ada"
    )
    assert journal.latest() == (written,)


def test_an_edited_entry_is_found(journal: Journal, database: Database) -> None:
    write(journal, 3)
    edit(database, "UPDATE journal SET data = '{}' WHERE number = 2")
    with pytest.raises(JournalBroken, match="entry 2: it was edited"):
        journal.verify()


def test_an_edited_time_or_type_is_found(journal: Journal, database: Database) -> None:
    write(journal, 3)
    edit(database, "UPDATE journal SET type = 'other' WHERE number = 3")
    with pytest.raises(JournalBroken, match="entry 3: it was edited"):
        journal.verify()


def test_a_removed_entry_is_found(journal: Journal, database: Database) -> None:
    write(journal, 3)
    edit(database, "DELETE FROM journal WHERE number = 2")
    with pytest.raises(JournalBroken, match="entry 2: it is missing"):
        journal.verify()


def test_a_cut_tail_is_found_by_the_head(journal: Journal, database: Database) -> None:
    write(journal, 3)
    edit(database, "DELETE FROM journal WHERE number = 3")
    with pytest.raises(JournalBroken, match="entry 3: the chain ends here, but its head counts 3"):
        journal.verify()


def test_a_cut_tail_with_a_forged_head_is_found_by_exported_heads(
    journal: Journal, database: Database
) -> None:
    write(journal, 3)
    exported = journal.heads()
    edit(database, "DELETE FROM journal WHERE number = 3")
    edit(database, "UPDATE journal_head SET count = 2, hash = (SELECT hash FROM journal WHERE number = 2)")
    journal.verify()
    with pytest.raises(JournalBroken, match="3 entries were exported"):
        journal.verify(exported)


def test_a_rewritten_chain_is_found_by_exported_heads(journal: Journal, database: Database) -> None:
    write(journal, 2)
    exported = journal.heads()
    edit(database, "DELETE FROM journal")
    edit(database, "DELETE FROM journal_head")
    write(journal, 5)
    with pytest.raises(JournalBroken, match="not the entry whose hash was exported"):
        journal.verify(exported)


def test_a_deleted_chain_is_found_by_exported_heads(journal: Journal, database: Database) -> None:
    write(journal, 2)
    exported = journal.heads()
    edit(database, "DELETE FROM journal")
    edit(database, "DELETE FROM journal_head")
    with pytest.raises(JournalBroken, match="exported and is gone"):
        journal.verify(exported)


def test_entries_without_a_head_are_found(journal: Journal, database: Database) -> None:
    write(journal, 2)
    edit(database, "DELETE FROM journal_head")
    with pytest.raises(JournalBroken, match="its head is missing"):
        journal.verify()


def test_an_entry_of_a_failed_transaction_never_was(journal: Journal, database: Database) -> None:
    write(journal, 1)
    with pytest.raises(RuntimeError), database.writing() as transaction:
        journal.append(transaction, Raw("note", {}), "ada")
        raise RuntimeError
    assert journal.verify()[0].count == 1


def test_a_follower_sees_each_later_entry_once_and_in_order(journal: Journal) -> None:
    write(journal, 2)
    seen = journal.heads()
    write(journal, 1, agent="bob")
    write(journal, 1)
    assert [(e.chain, e.number) for e in journal.after(seen)] == [("bob", 1), ("ada", 3)]
    assert journal.after(journal.heads()) == ()


def test_the_latest_entries_can_be_chosen_by_agent_and_type(journal: Journal) -> None:
    journal.record(Raw("provider.on", {}), "ada")
    journal.record(Raw("provider_on", {}), "ada")
    journal.record(Raw("provider.off", {}), "bob")
    assert [e.type for e in journal.latest(type="provider.*")] == ["provider.on", "provider.off"]
    assert [e.type for e in journal.latest(agent="bob")] == ["provider.off"]
    assert [e.type for e in journal.latest(limit=1)] == ["provider.off"]


def test_a_long_chain_verifies_across_batches(journal: Journal, database: Database) -> None:
    with database.writing() as transaction:
        for number in range(2100):
            journal.append(transaction, Raw("note", {"n": number}), "ada")
    assert journal.verify()[0].count == 2100
