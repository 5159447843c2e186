"""Many integers as one parameter of a statement."""


class Integers(tuple[int, ...]):
    """Integers that go to the database together, written at once rather than one by one."""

    __slots__ = ()

    def text(self) -> str:
        """As PostgreSQL writes an array, such as `{1,2}`."""
        return "{" + ",".join(map(str, self)) + "}"
