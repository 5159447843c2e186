"""What a provider's format is: how tools, calls and results are written where a model reads them."""

from collections.abc import Collection, Iterable
from typing import Protocol

from prowess.types import DISCOVER, CallResult, Json, JsonObject, ToolCall


def not_deferred(definitions: Iterable[JsonObject], defer: Collection[str]) -> list[JsonObject]:
    """The tools that a list holds where nothing can be deferred."""
    return [one for one in definitions if one["name"] == DISCOVER or one["name"] not in defer]


class ToolFormat(Protocol):
    """How one provider writes tools, calls and their results. Takes and gives values; nothing is sent.

    What it gives is plain JSON: for the provider's own SDK, for another client or for a file.
    """

    @property
    def name(self) -> str:
        """Such as "anthropic"."""

    def tools(
        self, definitions: Iterable[Json], *, strict: bool = False, defer: Collection[str] = ()
    ) -> list[Json]:
        """The value of `tools` in a request.

        Where a provider cannot defer a tool, it is left out until it is given without `defer`. The tool that
        searches is never deferred.

        definitions: tools, each with name, description and input_schema.
        strict: ask for arguments that fit the schema for certain, for each tool where that can be said.
        defer: names of tools that the model learns of by searching alone.
        """

    def calls(self, said: object, definitions: Iterable[Json] = ()) -> tuple[ToolCall, ...]:
        """What the model wants called.

        said: the response, or the message in it, as plain JSON or as the SDK's object.
        definitions: the tools it was given; with them, what was changed for the provider is changed back.
        """

    def result(self, call: ToolCall, result: CallResult) -> Json:
        """What answers a call: one more message, item, block or part.

        call: as the model made it.
        result: what came of it.
        """

    def found(self, call: ToolCall, definitions: Iterable[Json], *, strict: bool = False) -> Json:
        """What answers a call of the tool that searches for tools.

        call: as the model made it.
        definitions: the tools that were found, best first.
        strict: as it was for the other tools.
        """
