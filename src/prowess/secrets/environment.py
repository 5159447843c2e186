"""The environment with secrets: what the process has, then `.env`, then the home of secrets.

Above: whoever opens an engine or a gateway, and hands this on as the environment. Below: the parts it looks
in. It is looked up at every use, so a secret that is set while a gateway runs counts at once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from prowess.config import Settings
from prowess.secrets.env_file import EnvFile
from prowess.secrets.home import SecretHome, default_folder


@dataclass(frozen=True, slots=True, eq=False)
class SecretEnvironment(Mapping[str, str]):
    """Variables and secrets by name. An empty variable is no value."""

    process: Mapping[str, str]
    env_file: EnvFile | None
    home: SecretHome

    def __getitem__(self, name: str) -> str:
        if value := self.process.get(name):
            return value
        if self.env_file and (value := self.env_file.values().get(name)):
            return value
        if value := self.home.get(name):
            return value
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        file = self.env_file.values() if self.env_file else {}
        yield from dict.fromkeys((*self.process, *file, *self.home.names))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files whose change may change a secret."""
        return (self.home.file, *([self.env_file.file] if self.env_file else ()))

    def origin(self, name: str) -> str:
        """Where the value of a secret comes from, in words; empty where it has none."""
        if self.process.get(name):
            return "environment"
        if self.env_file and self.env_file.values().get(name):
            return self.env_file.file.name
        return (self.home.where(name) or "") if self.home.get(name) else ""


def with_secrets(settings: Settings, process: Mapping[str, str]) -> SecretEnvironment:
    """The environment of this process and the secrets that a configuration means."""
    said = settings.config.secrets
    folder = settings.path(said.folder) if said.folder else default_folder()
    env_file = EnvFile(settings.path(said.env_file)) if said.env_file else None
    if env_file:
        env_file.values()  # what is wrong with it is said now, and not in the middle of a turn
    return SecretEnvironment(process, env_file, SecretHome(folder, said.keep))
