"""`prowess serve`

A client that starts `prowess serve mcp` waits for its first answer, so what is slow to import is imported
where it is used.
"""

import getpass
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prowess.errors import ConfigError, MissingExtra
from prowess.gateway.first_answers import FirstAnswers, claimed, servable
from prowess.types import DEFAULT_AGENT

if TYPE_CHECKING:
    import socket

    from starlette.applications import Starlette
    from starlette.types import ASGIApp

    from prowess.config import OidcConfig
    from prowess.engine.engine import Engine
    from prowess.listen import Bind
    from prowess.monitoring.logs import LogFormat
    from prowess.monitoring.monitored import Monitored
    from prowess.monitoring.stopping import StopTimes
    from prowess.store.database import Database
    from prowess.tenants.open_tenants import OpenTenants
    from prowess.web.provider import ProviderFace

GATEWAY = "PROWESS_GATEWAY"
"""Set where a gateway started this process, which is refused below: it is answered nothing."""

host_option = click.option(
    "--host", default="127.0.0.1", show_default=True, envvar="PROWESS_SERVE_HOST", help="Where to listen."
)
# Kubernetes sets PROWESS_PORT where a service is called prowess, and means something else by it.
port_option = click.option(
    "--port", default=8800, type=click.IntRange(0, 65535), show_default=True, envvar="PROWESS_SERVE_PORT",
    help="0 takes a free one.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProcessOptions:
    """How a process serves, whichever faces it has."""

    workspaces: Path | None
    keep_open: int
    memory: float
    monitoring_from: tuple[str, ...]
    logs: "LogFormat"
    drain: float = 0.0
    grace: float = 1.0

    @property
    def stop_times(self) -> "StopTimes":
        from prowess.monitoring.stopping import StopTimes  # with what the faces need

        return StopTimes(self.drain, self.grace)

    @contextmanager
    def running(self, sends_spans: bool = True) -> Iterator[None]:
        """From the start to the end of a server, which comes in time."""
        from prowess.cli.ending import SECONDS_TO_CLOSE, ending_in_time
        from prowess.otel.exporting import exporting

        with (
            ending_in_time(self.drain + self.grace + SECONDS_TO_CLOSE),
            exporting(os.environ if sends_spans else {}),
        ):
            yield


def process_options(function: Callable[..., None]) -> Callable[..., None]:
    """The options that every server takes, given to it as one."""

    @click.option(
        "--workspaces", type=click.Path(path_type=Path), metavar="FOLDER", envvar="PROWESS_WORKSPACES",
        help="Serve every workspace: FOLDER/NAME/prowess.toml configures NAME.",
    )  # fmt: skip
    @click.option(
        "--keep-open", default=100, show_default=True, type=click.IntRange(1), envvar="PROWESS_KEEP_OPEN",
        help="With --workspaces: how many stay open; those not used for the longest are closed.",
    )  # fmt: skip
    @click.option(
        "--memory", default=0.0, type=click.FloatRange(0), metavar="MEGABYTES", envvar="PROWESS_MEMORY",
        help="With --workspaces: close those not used for the longest when the process uses more.",
    )  # fmt: skip
    @click.option(
        "--monitoring-from", multiple=True, metavar="NETWORK", envvar="PROWESS_MONITORING_FROM",
        help="Who may read /healthz, /readyz and /metrics beside this machine, such as 10.0.0.0/8.",
    )  # fmt: skip
    @click.option(
        "--logs", type=click.Choice(("text", "json")), default="text", show_default=True,
        envvar="PROWESS_LOGS", help="What is logged to standard error: lines, or JSON objects.",
    )  # fmt: skip
    @click.option(
        "--drain", type=click.FloatRange(0), default=0.0, show_default=True, metavar="SECONDS",
        envvar="PROWESS_DRAIN", help="When told to stop: how long to say so at /readyz before refusing.",
    )  # fmt: skip
    @click.option(
        "--grace", type=click.FloatRange(0), default=1.0, show_default=True, metavar="SECONDS",
        envvar="PROWESS_GRACE", help="When told to stop: how long requests in flight may take then.",
    )  # fmt: skip
    @wraps(function)
    def packed(
        workspaces: Path | None, keep_open: int, memory: float, monitoring_from: tuple[str, ...],
        logs: "LogFormat", drain: float, grace: float, **others: object,
    ) -> None:  # fmt: skip
        options = ProcessOptions(workspaces, keep_open, memory, monitoring_from, logs, drain, grace)
        function(process=options, **others)

    return packed


@click.group(invoke_without_command=True)
@host_option
@port_option
@process_options
@click.option(
    "--agent",
    default=DEFAULT_AGENT,
    show_default=True,
    envvar="PROWESS_AGENT",
    help="Who an MCP client without a token is.",
)
@click.pass_context
def command(ctx: click.Context, host: str, port: int, agent: str, process: ProcessOptions) -> None:
    """Serve MCP clients, the dashboard and the API.

    Without a command: the gateway, the dashboard and the API in one process.
    """
    if ctx.invoked_subcommand is None:
        from prowess.listen import Bind

        with process.running():
            _log(process)
            if process.workspaces:
                _serve_workspaces(process, Bind(host, port))
            else:
                _serve_all(Bind(host, port), agent, process)


@command.command()
@click.option("--http", "bind", metavar="HOST:PORT", help="Serve over HTTP instead of standard input.")
@click.option(
    "--agent", default=DEFAULT_AGENT, show_default=True, envvar="PROWESS_AGENT", help="Who the client is."
)
@process_options
def mcp(bind: str | None, agent: str, process: ProcessOptions) -> None:
    """One MCP server in front of all the others; `prowess connect CLIENT` has a client start it."""
    if process.workspaces:
        from prowess.listen import parse_bind

        if not bind:
            raise click.UsageError("--workspaces needs --http HOST:PORT: a token says whose a request is")
        _log(process)
        with process.running():
            _serve_workspaces(process, parse_bind(bind), web=False)
        return
    first = None
    if not bind and servable() and not os.environ.get(GATEWAY):
        chosen = click.get_current_context().find_root().obj or {}
        first = FirstAnswers(claimed(), partial(_introduction, chosen.get("config"), agent)).start()
    # Clients show a server's standard error to the person who looks for what is wrong.
    _log(process)
    # Each call passes between the event loop and a worker thread; neither should wait long for the other.
    sys.setswitchinterval(0.001)

    with process.running(sends_spans=bool(bind)):
        _serve(bind, agent, first, process)
    # Everything is closed; waiting for idle threads would only keep the client waiting.
    sys.stderr.flush()
    os._exit(0)


def _introduction(named: str | None, agent: str) -> str:
    """What the client is told first; in the thread that answers, beside everything else that is loaded."""
    from prowess import config as configuration
    from prowess.gateway.kept_introduction import kept

    file = Path(named) if named else configuration.find(os.environ, Path.cwd())
    return kept(file, agent, os.environ)


@command.command()
@host_option
@port_option
@process_options
def web(host: str, port: int, process: ProcessOptions) -> None:
    """The dashboard and the API."""
    from prowess.cli.session import opened
    from prowess.listen import Bind

    try:
        import anyio

        from prowess.alerts.watch import watching
        from prowess.engine.recurring import recurring, work_between_turns
        from prowess.web.serving import serving  # the optional part `web`
    except ImportError as error:
        raise MissingExtra("the dashboard", "web") from error
    bind = Bind(host, port)
    _log(process)
    if process.workspaces:
        with process.running():
            _serve_workspaces(process, bind, mcp=False)
        return
    with (
        process.running(),
        opened(new=True) as engine,
        watching(engine),
        recurring(*work_between_turns(engine)),
    ):
        app, door = _web(engine, bind)
        anyio.run(serving, _monitored(app, engine.internals.database, process), door, process.stop_times)


def _web(engine: "Engine", bind: "Bind") -> "tuple[Starlette, socket.socket]":
    """The dashboard, and the socket it is on; says where it is and how to get in."""
    from prowess import config as configuration
    from prowess.cli.session import config_file, say
    from prowess.listen import Bind
    from prowess.opening import make_writable
    from prowess.web.app import create_app
    from prowess.web.serving import (
        limits_of,
        listening,
        login_link,
        may_change_servers,
        refuse_strangers,
    )

    settings = configuration.load(config_file(), Path.cwd(), os.environ)
    if settings.file and may_change_servers(settings.config.web, bind):
        make_writable(engine, settings.file)
    provider = _provider(engine, settings.config.web.oidc)
    limits = limits_of(settings.config.web, bind)
    app = create_app(engine, limits, secure=not bind.is_loopback, provider=provider)
    if provider is None:
        refuse_strangers(app.state.people, bind)
    door = listening(bind)
    bound = Bind(bind.host, door.getsockname()[1])
    say(f"serving the dashboard and the API on {bound.address}; stop with Ctrl-C")
    # The link is what the one who started this came for, and a program may want it: data, not words. What a
    # server says that others reach is kept in logs, where nothing may stand that lets somebody in.
    click.echo(login_link(app.state.people, bound, getpass.getuser()) if bind.is_loopback else bound.address)
    if not bind.is_loopback:
        say("browsers sign in only over TLS: put a proxy in front that brings it")
    return app, door


def _provider(engine: "Engine", config: "OidcConfig | None") -> "ProviderFace | None":
    if config is None:
        return None
    from prowess.opening import now
    from prowess.web.users import Users

    try:
        from prowess.web.provider import OnlyWorkspace, provider_face
    except ImportError as error:
        raise MissingExtra("signing in at an identity provider", "oidc") from error
    inner = engine.internals
    workspace = inner.database.workspace
    only = OnlyWorkspace(workspace, Users(inner.database, inner.journal, now))
    return provider_face(config, inner.environment, only, workspace)


def _serve_all(bind: "Bind", agent: str, process: ProcessOptions) -> None:
    from prowess.cli.session import config_file, say

    try:
        import anyio

        from prowess.alerts.watch import watching
        from prowess.gateway.access_tokens import WELL_KNOWN
        from prowess.gateway.http import PATH, application
        from prowess.gateway.opening import opened as opened_gateway
        from prowess.web.serving import beside, serving
    except ImportError as error:
        raise MissingExtra("serving everything", "gateway,web") from error
    file = config_file()
    sys.path.insert(0, str(file.resolve().parent if file else Path.cwd()))
    chosen = click.get_current_context().find_root().obj or {}
    place = (chosen.get("store"), os.environ, chosen.get("workspace"), chosen.get("replica"))
    with opened_gateway(file, *place) as gateway, watching(gateway.engine):
        app, door = _web(gateway.engine, bind)
        say(f"serving MCP on the same port, at {PATH}")

        async def both() -> None:
            async with gateway.running():
                mcp = application(gateway, bind, agent)
                everything = beside(app, {PATH: mcp, WELL_KNOWN: mcp})
                database = gateway.engine.internals.database
                await serving(_monitored(everything, database, process), door, process.stop_times)

        anyio.run(both)


def _log(process: ProcessOptions) -> None:
    from prowess.monitoring.logs import log_to_stderr

    log_to_stderr(process.logs)


def _monitored(
    app: "ASGIApp", database: "Database", process: ProcessOptions, tenants: "OpenTenants | None" = None
) -> "Monitored":
    """The same, which those who run it can look at."""
    from prowess.monitoring.monitored import Monitored, ServerState, networks

    def gauges() -> dict[str, tuple[str, float]]:
        what = "Workspaces that are open."
        opened = {"prowess_workspaces_open": (what, len(tenants.names))} if tenants else {}
        return {**database.gauges(), **opened}

    return Monitored(app, ServerState(database.check, gauges), networks(process.monitoring_from))


def _serve_workspaces(process: ProcessOptions, bind: "Bind", web: bool = True, mcp: bool = True) -> None:
    from prowess import config as configuration
    from prowess.cli.session import config_file, say

    try:
        import anyio

        from prowess.listen import Bind
        from prowess.opening import address_of
        from prowess.tenants.served_folder import FolderOfWorkspaces
        from prowess.tenants.serving import KeptOpen, ServedFaces, serving_workspaces
        from prowess.web.serving import listening, serving
    except ImportError as error:
        raise MissingExtra("serving workspaces", "gateway,web") from error
    settings = configuration.load(config_file(), Path.cwd(), os.environ)
    chosen = click.get_current_context().find_root().obj or {}
    store = address_of(settings, os.environ, chosen.get("store"), chosen.get("replica"))
    faces = ServedFaces(web, mcp)
    folder = process.workspaces or Path()
    kept = KeptOpen(process.keep_open, process.memory)
    with serving_workspaces(folder, settings, store, bind, faces, kept, os.environ) as door:
        socket = listening(bind)
        address = Bind(bind.host, socket.getsockname()[1]).address

        async def all_of_them() -> None:
            async with door.running():
                for problem in FolderOfWorkspaces(folder, door.store).refused():
                    say(problem)
                say(f"serving the workspaces in {folder} on {address}; stop with Ctrl-C")
                click.echo(address)
                monitored = _monitored(door, door.store, process, door.tenants)
                await serving(monitored, socket, process.stop_times)

        anyio.run(all_of_them)


def _serve(bind: str | None, agent: str, first: FirstAnswers | None, process: ProcessOptions) -> None:
    from prowess.cli.session import config_file, say, until_interrupted
    from prowess.listen import parse_bind
    from prowess.sources.mcp.self_check import CHAINED, VARIABLE

    try:
        # The SDK is the optional part `gateway`.
        from prowess.gateway.http import serve_http
        from prowess.gateway.opening import opened as opened_gateway
        from prowess.gateway.stdio import serve_stdio
        from prowess.monitoring.monitored import networks
    except ImportError as error:
        raise MissingExtra("serving MCP", "gateway") from error
    where = parse_bind(bind) if bind else None
    if where is None and os.environ.get(VARIABLE):
        remedy = f"take prowess out of the servers in prowess.toml, or unset {VARIABLE}"
        raise ConfigError("prowess serve mcp", f"was started by prowess: {CHAINED}", remedy)
    file = config_file()
    # Modules that prowess.toml names lie beside it, as they would for `python -m`.
    sys.path.insert(0, str(file.resolve().parent if file else Path.cwd()))
    chosen = click.get_current_context().find_root().obj or {}
    place = (chosen.get("store"), os.environ, chosen.get("workspace"), chosen.get("replica"))
    with opened_gateway(file, *place) as gateway:
        if where is None:
            serve_stdio(gateway, agent, first)
            return
        from prowess.alerts.watch import watching

        with until_interrupted(), watching(gateway.engine):
            say(f"serving MCP on http://{where.host}:{where.port}/mcp; stop with Ctrl-C")
            if not where.is_loopback:
                say("every client needs a token: prowess agent add NAME --profile PROFILE")
            serve_http(gateway, where, agent, networks(process.monitoring_from), process.stop_times)
