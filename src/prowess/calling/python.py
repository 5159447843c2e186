"""Calling Python: the functions and event handlers of the modules that prowess.toml names.

What is synchronous runs in a worker thread; a call that is given up leaves its thread to finish alone.
"""

import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import msgspec
from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from prowess.calling.results import STRUCTURED, VALUE, Answer, said
from prowess.errors import CallFailed, SourceError
from prowess.sources.python.events import Events, declarations
from prowess.sources.python.functions import Functions, is_tool
from prowess.sources.python.modules import entry_of, loaded_module, place_of
from prowess.sources.python.signatures import takes_payload
from prowess.types import Capability

Function = Callable[..., object]

MAX_THREADS = 32
_threads: RunVar[CapacityLimiter] = RunVar("prowess_function_threads")


async def call_function(
    source: Functions | Events, capability: Capability, arguments: Mapping[str, Any]
) -> Answer:
    """Raises `CallFailed` with what the function raised behind it."""
    function = _function(source, capability)
    bound = _payload if isinstance(source, Events) and takes_payload(function) else _by_name
    try:
        call = bound(function, arguments)
        if _is_async(function):
            return told(await call())  # type: ignore[misc]
        return told(await to_thread.run_sync(call, abandon_on_cancel=True, limiter=_limiter()))
    except Exception as error:  # the author's code may raise anything; the caller is told what
        raise CallFailed(capability.id, "failed", f"{type(error).__name__}: {error}") from error


def told(value: object) -> Answer:
    """What a function returned, as an answer."""
    if isinstance(value, str):
        return said(value)
    try:
        plain = msgspec.to_builtins(value, str_keys=True)
        text = msgspec.json.encode(plain).decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return said(str(value))
    answer = said(text)
    return {**answer, STRUCTURED if isinstance(plain, dict) else VALUE: plain}


def _limiter() -> CapacityLimiter:
    """The threads of this event loop: a limiter belongs to one."""
    limiter = _threads.get(None)
    if limiter is None:
        limiter = CapacityLimiter(MAX_THREADS)
        _threads.set(limiter)
    return limiter


def _is_async(function: Function) -> bool:
    plain = function.func if isinstance(function, functools.partial) else function
    called = plain if inspect.isroutine(plain) else type(plain).__call__
    return inspect.iscoroutinefunction(inspect.unwrap(plain)) or inspect.iscoroutinefunction(called)


def _function(source: Functions | Events, capability: Capability) -> Function:
    ref = capability.source_ref
    given = source.functions if isinstance(source, Functions) else source.handlers
    found: Iterable[object] = [
        *given,
        *(vars(loaded_module(source.module, source.folder)).values() if source.module else ()),
    ]
    there = {
        id(one): one
        for one in found
        if callable(one) and entry_of(one) == ref.entry and place_of(one, source.name) == ref.place
    }
    meant = [one for one in there.values() if _is_meant(source, one, capability.name)]
    if meant or len(there) == 1:
        return meant[0] if meant else next(iter(there.values()))
    raise SourceError(ref.place, f"{ref.entry} is not there any more", "sync again")


def _is_meant(source: Functions | Events, function: Function, name: str) -> bool:
    """Functions that one function makes have the same place; only their names tell them apart."""
    if isinstance(source, Functions):
        return is_tool(function, name)
    return any(mark.event == name for mark in declarations(function))


def _by_name(function: Function, arguments: Mapping[str, Any]) -> Callable[[], object]:
    hints = _hints(function)
    positional, named = [], {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            known = inspect.signature(function).parameters
            named.update({name: value for name, value in arguments.items() if name not in known})
        elif parameter.name in arguments:
            value = _typed(arguments[parameter.name], hints.get(parameter.name))
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(value)
            else:
                named[parameter.name] = value
    return partial(function, *positional, **named)


def _payload(handler: Function, arguments: Mapping[str, Any]) -> Callable[[], object]:
    parameter = next(iter(inspect.signature(handler).parameters.values()))
    value = _typed(dict(arguments), _hints(handler).get(parameter.name))
    return (
        partial(handler, **{parameter.name: value})
        if parameter.kind is parameter.KEYWORD_ONLY
        else partial(handler, value)
    )


def _hints(function: Function) -> Mapping[str, Any]:
    try:
        target = function if inspect.isroutine(function) else type(function).__call__
        return typing.get_type_hints(target, include_extras=True)
    except Exception:  # resolving a hint runs the author's expressions
        return {}


def _typed(value: object, hint: Any) -> object:
    """A value as the type the function asks for, where that type can be made from JSON."""
    if hint is None:
        return value
    try:
        return msgspec.convert(value, hint)
    except (TypeError, NotImplementedError):
        return value
