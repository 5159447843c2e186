"""What keeps the catalogue from being found in."""

from prowess.discovery.lint import LintFinding
from prowess.errors import EncoderUnavailable
from prowess.operations.operation import Call, NoParams, operation


@operation("lint", "GET /lint", slow=True, quotes=True, errors=(EncoderUnavailable,))
def lint(call: Call[NoParams]) -> tuple[LintFinding, ...]:
    """What keeps the catalogue from being found in."""
    return call.engine.catalogue.lint()
