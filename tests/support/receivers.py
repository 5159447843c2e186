"""Who gets alerts, on sockets of this machine: a webhook's server, and a mail server."""

import base64
import json
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.ports import LOOKS


@dataclass
class Hook:
    """A webhook's server: what arrived, and how it answers."""

    url: str = ""
    status: int = 204
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def came(self, count: int) -> bool:
        """Whether so many arrive, within half a minute."""
        deadline = time.monotonic() + 30
        while len(self.bodies) < count and time.monotonic() < deadline:
            time.sleep(0.02)
        return len(self.bodies) >= count

    @property
    def told(self) -> list[list[str]]:
        """The texts of the alerts of each request."""
        return [[one["text"] for one in json.loads(body)["alerts"]] for body in self.bodies]


@contextmanager
def hook() -> Iterator[Hook]:
    heard = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.bodies.append(self.rfile.read(int(self.headers["content-length"])))
            heard.headers.append(dict(self.headers.items()))
            self.send_response(heard.status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(LOOKS,), daemon=True)
        thread.start()
        heard.url = f"http://127.0.0.1:{server.server_port}/hook"
        yield heard
        server.shutdown()
        thread.join()


@dataclass
class Post:
    """A mail server: what it took, and from whom."""

    port: int = 0
    password: str = ""
    letters: list[EmailMessage] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)


class Office(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, post: Post) -> None:
        super().__init__(("127.0.0.1", 0), Desk)
        self.post = post


class Desk(socketserver.StreamRequestHandler):
    """Speaks as much SMTP (RFC 5321, with AUTH PLAIN) as a client needs."""

    server: Office

    def handle(self) -> None:
        self.recipients: list[str] = []
        self.say("220 post")
        while line := self.rfile.readline().decode().rstrip("\r\n"):
            verb, _, rest = line.partition(" ")
            if verb.upper() == "QUIT":
                self.say("221 bye")
                return
            self.answer(verb.upper(), rest)

    def say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())

    def answer(self, verb: str, rest: str) -> None:
        match verb:
            case "EHLO":
                self.say("250-post\r\n250 AUTH PLAIN")
            case "AUTH":
                _, user, word = base64.b64decode(rest.split()[1]).decode().split("\0")
                self.server.post.logins.append(user)
                self.say("235 welcome" if word == self.server.post.password else "535 wrong password")
            case "RCPT":
                self.recipients.append(rest.partition("<")[2].rstrip(">"))
                self.say("250 ok")
            case "DATA":
                self.take()
            case _:
                self.say("250 ok")

    def take(self) -> None:
        self.say("354 go on")
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        letter = message_from_bytes(b"".join(lines), policy=policy.default)
        assert isinstance(letter, EmailMessage)
        self.server.post.letters.append(letter)
        self.server.post.recipients.append(self.recipients)
        self.say("250 taken")


@contextmanager
def post(password: str = "") -> Iterator[Post]:
    taken = Post(password=password)
    with Office(taken) as server:
        taken.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(LOOKS,), daemon=True)
        thread.start()
        yield taken
        server.shutdown()
        thread.join()
