"""Ports for servers that are told which one to listen on."""

import random
import socket

LOOKS = 0.01
"""Seconds between two looks of Python's own servers whether they shall stop; else they are half a second."""


def free_port() -> int:
    """A port that nobody listens on, below those that the system gives to connections going out."""
    for port in random.sample(range(15_000, 32_000), 200):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port is free")
