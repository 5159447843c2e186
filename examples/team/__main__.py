"""A team of two agents and a person who decides: `python -m examples.team`.

Each agent is offered what is its own; a large refund waits for Carla; the journal says who did what. Before a
change of the policy goes live, `prowess policy test` holds it against the expectations in the same file.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import prowess

CONFIG = Path(__file__).with_name("prowess.toml")


def run(engine: prowess.Engine) -> None:
    """One afternoon of the team."""
    engine.sync()
    for agent in ("ada", "ben"):
        turn = prowess.Turn(
            messages=(prowess.Message("user", "give the money back for a broken lamp"),), agent=agent
        )
        print(agent, "is offered:", *engine.offer(turn).tool_ids.values())

    order = {"order": 17, "euros": 89.0}
    print("ben:", engine.call("refund", order, agent="ben").text)
    print("ada:", engine.call("refund", order, agent="ada").text)
    (question,) = engine.approvals.list()
    print("Carla reads:", question.agent, question.capability, dict(question.arguments))
    engine.approvals.answer(question.id, prowess.ApprovalAnswer(yes=True, by="Carla"))
    print("ada:", engine.call("refund", order, agent="ada").text)

    for agent in ("ada", "ben"):
        for entry in engine.journal.latest(10, agent, "call"):
            print("journal:", agent, entry.data["capability"], entry.data["outcome"])


if __name__ == "__main__":
    with TemporaryDirectory() as folder, prowess.open(f"{folder}/team.db", config=str(CONFIG)) as engine:
        run(engine)
