"""A network in the way: a proxy for TCP that hangs when it is told, and goes on when it is told."""

import ctypes
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

AT_ONCE = 65536
SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
_NOTHING = struct.pack("HBBI", 0x06, 0, 0, 0)
_KEPT = ctypes.create_string_buffer(_NOTHING)
DROP_ALL = struct.pack("HL", 1, ctypes.addressof(_KEPT))
"""A filter of one instruction, "take nothing of it", as Linux wants it for a socket."""


class HangingProxy:
    def __init__(self, port: int) -> None:
        """port: of the server on this machine that it leads to."""
        self._to = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._flows = threading.Event()
        self._flows.set()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def hang(self) -> None:
        """From now on nothing comes through, in either direction; connections are taken, and hang too."""
        self._flows.clear()

    def flow(self) -> None:
        """What was held back comes through."""
        self._flows.set()

    def lose(self) -> None:
        """From now on what is sent here is lost, as if it never came: nobody confirms it."""
        for one in (self._listening, *self._open):
            with suppress(OSError):
                one.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, DROP_ALL)

    def keep(self) -> None:
        """What is sent here from now on arrives."""
        for one in (self._listening, *self._open):
            with suppress(OSError):
                one.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)

    def turn(self, port: int) -> None:
        """Lead to another server from now on; what led to the one before is cut off."""
        self._to = port
        while self._open:
            _shut(self._open.pop())

    def close(self) -> None:
        self._listening.close()
        for one in self._open:
            _shut(one)
        self._flows.set()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(here,), daemon=True).start()

    def _serve(self, here: socket.socket) -> None:
        self._flows.wait()
        try:
            there = socket.create_connection(("127.0.0.1", self._to))
        except OSError:
            _shut(here)
            return
        self._open += [here, there]
        threading.Thread(target=self._pump, args=(there, here), daemon=True).start()
        self._pump(here, there)

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(AT_ONCE):
                self._flows.wait()
                target.sendall(data)
        _shut(source)
        _shut(target)


def _shut(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextmanager
def hanging_proxy(port: int) -> Iterator[HangingProxy]:
    proxy = HangingProxy(port)
    try:
        yield proxy
    finally:
        proxy.close()
