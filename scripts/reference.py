"""Write docs/reference.md from the code: `python -m scripts.reference`.

A parameter is described by a line `name: what it is` in the docstring; a field of a value also by a comment
beside it or a docstring below it.
"""

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

import prowess
from prowess.engine.evolution import EvolutionService
from prowess.engine.namespaces.agents import Agents
from prowess.engine.namespaces.approvals import Approvals
from prowess.engine.namespaces.calls import OpenCalls
from prowess.engine.namespaces.cards import Cards
from prowess.engine.namespaces.catalogue import CatalogueLookup
from prowess.engine.namespaces.findings import GuardFindings
from prowess.engine.namespaces.journal import JournalHistory
from prowess.engine.namespaces.policy import PolicyLookup
from prowess.engine.namespaces.providers import Providers
from prowess.engine.namespaces.quarantine import Quarantine
from prowess.learning.learning import Learning
from prowess.policy.agent_tokens import AgentTokens

FILE = Path(__file__).parent.parent / "docs" / "reference.md"
PARAMETER = re.compile(r"(\w+): (.+)")
NAMESPACES: Mapping[str, type] = {
    "catalogue": CatalogueLookup,
    "providers": Providers,
    "quarantine": Quarantine,
    "findings": GuardFindings,
    "policy": PolicyLookup,
    "agents": Agents,
    "tokens": AgentTokens,
    "approvals": Approvals,
    "calls": OpenCalls,
    "cards": Cards,
    "evolution": EvolutionService,
    "learning": Learning,
    "journal": JournalHistory,
}
HEAD = """# Reference

Everything prowess promises, written from the code by `python -m scripts.reference`. What is not named here
may change with every version; that holds for `engine.internals`, too.
"""


@dataclass(frozen=True, slots=True)
class Described:
    """What a docstring says."""

    summary: str
    body: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)


def described(each: Any) -> Described:
    """What is said about a function, a property or a class, and about each of its parameters."""
    text = inspect.cleandoc(_own_doc(each))
    parameters, kept = {}, []
    for line in text.splitlines():
        found = PARAMETER.fullmatch(line)
        if found:
            parameters[found[1]] = found[2]
        else:
            kept.append(line)
    if isinstance(each, type):
        parameters = {**_of_bases(each), **parameters, **_of_fields(each)}
    summary, _, body = "\n".join(kept).strip().partition("\n\n")
    return Described(summary, body.strip(), parameters)


def _own_doc(each: Any) -> str:
    doc = vars(each).get("__doc__") if isinstance(each, type) else each.__doc__
    # A dataclass without a docstring is given its signature as one.
    return "" if doc is None or (isinstance(each, type) and doc.startswith(f"{each.__name__}(")) else str(doc)


def _of_bases(kind: type) -> dict[str, str]:
    """Options that extend others: a TypedDict does not remember what it extends, its source does."""
    if not hasattr(kind, "__total__"):
        return {}
    (tree,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(tree, ast.ClassDef)
    named = [getattr(sys.modules[kind.__module__], ast.unparse(base)) for base in tree.bases]
    kinds = [base for base in named if hasattr(base, "__total__")]
    return {name: said for base in kinds for name, said in described(base).parameters.items()}


def _of_fields(kind: type) -> dict[str, str]:
    if not dataclasses.is_dataclass(kind):
        return {}
    source = textwrap.dedent(inspect.getsource(kind))
    (tree,) = ast.parse(source).body
    assert isinstance(tree, ast.ClassDef)
    tokens = tokenize.generate_tokens(StringIO(source).readline)
    beside = {token.start[0]: token.string[1:].strip() for token in tokens if token.type == tokenize.COMMENT}
    found = {}
    for one, below in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            said = beside.get(one.lineno, "")
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                said = str(below.value.value)
            found[one.target.id] = " ".join(said.split())
    return {name: said for name, said in found.items() if said}


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """The public functions and properties of a class, as they stand in it."""
    for name, each in vars(kind).items():
        if not name.startswith("_") and (
            inspect.isfunction(each) or isinstance(each, property | cached_property)
        ):
            yield name, each


def signature(name: str, each: Callable[..., Any]) -> str:
    """As it is written, without `self` and without quotes around types."""
    nodes = ast.walk(ast.parse(textwrap.dedent(inspect.getsource(each))))
    function = next(node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    arguments = re.sub(r"^self(, /)?(, )?", "", _written(function.args))
    returns = _written(function.returns) if function.returns else "None"
    return f"{name}({arguments}) -> {returns}"


def _written(node: ast.AST) -> str:
    class Unquoted(ast.NodeTransformer):
        def visit_arg(self, arg: ast.arg) -> ast.arg:
            if isinstance(arg.annotation, ast.Constant) and isinstance(arg.annotation.value, str):
                arg.annotation = ast.parse(arg.annotation.value, mode="eval").body
            return arg

    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ast.unparse(Unquoted().visit(node))


def reference() -> str:
    parts = [
        HEAD,
        "## Functions\n",
        *(_function(name) for name in ("open", "tool", "event_handler", "tool_format")),
    ]
    parts += ["## Engine\n", _said(described(prowess.Engine), with_parameters=False)]
    parts += [_member(f"engine.{name}", each) for name, each in members(prowess.Engine) if name != "cards"]
    for name, kind in NAMESPACES.items():
        parts += [f"## engine.{name}\n", _said(described(kind))]
        parts += [_member(f"engine.{name}.{one}", each) for one, each in members(kind)]
    kinds = [getattr(prowess, name) for name in sorted(prowess.__all__) if name != "Engine"]
    classes = [kind for kind in kinds if isinstance(kind, type)]
    errors = [kind for kind in classes if issubclass(kind, Exception)]
    parts += ["## Values and options\n", *(_class(kind) for kind in classes if kind not in errors)]
    parts += ["## Errors\n", *(_class(kind) for kind in errors)]
    return "\n".join(part.rstrip() + "\n" for part in parts)


def _function(name: str) -> str:
    each = getattr(prowess, name)
    return f"### prowess.{name}\n\n```python\n{signature(name, each)}\n```\n\n{_said(described(each))}"


def _member(name: str, each: Any) -> str:
    if inspect.isfunction(each):
        shown = signature(name.rpartition(".")[2], each)
        return f"### {name}\n\n```python\n{shown}\n```\n\n{_said(described(each))}"
    return f"### {name}\n\n{_said(described(each))}"


def _class(kind: type) -> str:
    base = f" ({kind.__bases__[0].__name__})" if issubclass(kind, Exception) else ""
    promised = members(kind) if getattr(kind, "_is_protocol", False) else ()
    said = [_member(f"{kind.__name__}.{name}", each) for name, each in promised if each.__doc__]
    return "\n".join([f"### {kind.__name__}{base}\n\n{_said(described(kind))}", *said])


def _said(said: Described, with_parameters: bool = True) -> str:
    lines = [f"- `{name}`: {text}" for name, text in said.parameters.items()] if with_parameters else []
    return "\n\n".join(part for part in (said.summary, said.body, "\n".join(lines)) if part) + "\n"


if __name__ == "__main__":
    FILE.write_text(reference(), encoding="utf-8")
