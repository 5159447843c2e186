"""The files of deploy/ are what Compose, Kubernetes, Caddy and prowess itself take."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import kubernetes_validate
import pytest
import yaml

from prowess import config
from prowess.cli.main import prowess
from prowess.errors import ConfigError
from scripts.container import instructions
from scripts.processes import caddy
from tests.support.places import ROOT

pytestmark = pytest.mark.slow

DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOY / "kubernetes/prowess.yaml").read_text()))
STEPS = instructions((DEPLOY / "Containerfile").read_text())
KUBERNETES = ("1.31", "1.34", "1.37")


def manifest(kind: str) -> dict[str, Any]:
    (found,) = [one for one in MANIFESTS if one["kind"] == kind]
    return found


def container() -> dict[str, Any]:
    (only,) = manifest("Deployment")["spec"]["template"]["spec"]["containers"]
    found: dict[str, Any] = only
    return found


# --- what others take ----------------------------------------------------------------------------


def checked_compose(file: Path) -> int:
    run = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(file)]
    return subprocess.run(run, stdout=subprocess.DEVNULL, timeout=60).returncode


def test_compose_takes_its_file_and_would_not_take_a_misspelt_one(tmp_path: Path) -> None:
    assert checked_compose(DEPLOY / "compose.yaml") == 0
    wrong = tmp_path / "compose.yaml"
    wrong.write_text((DEPLOY / "compose.yaml").read_text().replace("healthcheck:", "healthchek:"))
    assert checked_compose(wrong) != 0


@pytest.mark.parametrize("version", KUBERNETES)
def test_kubernetes_takes_every_manifest_and_would_not_take_a_misspelt_one(version: str) -> None:
    for one in MANIFESTS:
        kubernetes_validate.validate(one, version, strict=True)
    wrong = manifest("Deployment")
    wrong = {**wrong, "spec": {**wrong["spec"], "replica": 2}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, version, strict=True)


@pytest.mark.parametrize("site", ["tools.example.com", "http://127.0.0.1:8443"])
def test_the_proxy_takes_its_file(site: str, tmp_path: Path) -> None:
    told = {"SITE": site, "NODES": "node-a:8800 node-b:8800", "XDG_DATA_HOME": str(tmp_path)}
    run = [str(caddy()), "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
    done = subprocess.run(run, env={**os.environ, **told}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


# --- what prowess takes --------------------------------------------------------------------------


def options() -> set[str]:
    """The variables that `prowess serve` reads."""
    serve = prowess.get_command(click.Context(prowess), "serve")
    assert serve is not None
    named = [one.envvar for one in serve.params if isinstance(one.envvar, str)]
    return {*named, "PROWESS_STORE", "PROWESS_CONFIG"}


def environments() -> Iterator[dict[str, str]]:
    yield {name: str(text) for name, text in COMPOSE["x-node"]["environment"].items()}
    yield process_map()
    yield {
        name: text for name, text in manifest("Secret")["stringData"].items() if name.startswith("PROWESS_")
    }
    yield dict(pair.split("=", 1) for word, said in STEPS if word == "ENV" for pair in said.split())


def process_map() -> dict[str, str]:
    (found,) = [
        one for one in MANIFESTS if one["kind"] == "ConfigMap" and one["metadata"]["name"] == "prowess"
    ]
    data: dict[str, str] = found["data"]
    return data


def test_every_variable_is_one_that_prowess_reads() -> None:
    for environment in environments():
        named = {name: text for name, text in environment.items() if name.startswith("PROWESS_")}
        assert {name for name in named if "__" not in name} <= options()
        config.load(
            None, ROOT, {name: text.replace("${SITE:?}", "a.example") for name, text in named.items()}
        )
    with pytest.raises(ConfigError):
        config.load(None, ROOT, {"PROWESS_WEB__HOST": "[]"})


def test_prowess_reads_every_configuration_and_each_workspace_has_a_policy() -> None:
    read = {file: config.load(file, file.parent, {}) for file in (DEPLOY / "config").rglob("prowess.toml")}
    workspaces = [one for file, one in read.items() if "workspaces" in file.parts]
    assert len(read) > len(workspaces) > 0
    assert all(one.config.policy.files for one in workspaces)
    texts = [one["data"]["prowess.toml"] for one in MANIFESTS if "prowess.toml" in one.get("data", {})]
    assert texts and all(config.parse(text) for text in texts)


# --- what was promised ---------------------------------------------------------------------------


def test_every_image_is_pinned_by_name() -> None:
    images = [said.split()[0] for word, said in STEPS if word == "FROM"]
    images += [one["image"] for one in COMPOSE["services"].values()]
    assert [one for one in images if not re.search(r":\d[\w.-]*$|^prowess:local$", one)] == []


def test_a_node_runs_as_nobody_in_particular_and_can_write_nowhere() -> None:
    node = COMPOSE["x-node"]
    assert (node["read_only"], node["cap_drop"], node["tmpfs"]) == (True, ["ALL"], ["/tmp"])
    assert [said for word, said in STEPS if word == "USER"] == ["10001:10001"]
    assert manifest("Deployment")["spec"]["template"]["spec"]["securityContext"]["runAsUser"] == 10001
    assert container()["securityContext"]["readOnlyRootFilesystem"] is True


def test_a_node_has_the_time_to_stop_that_it_takes() -> None:
    (image,) = [dict(pair.split("=", 1) for pair in said.split()) for word, said in STEPS if word == "ENV"]
    taken = float(image["PROWESS_DRAIN"]) + float(image["PROWESS_GRACE"])
    assert taken + 5 <= float(COMPOSE["x-node"]["stop_grace_period"].rstrip("s"))
    taken = float(process_map()["PROWESS_DRAIN"]) + float(process_map()["PROWESS_GRACE"])
    assert taken + 5 <= manifest("Deployment")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]


def test_everything_points_at_the_pods_of_the_deployment() -> None:
    labels = manifest("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert manifest("Service")["spec"]["selector"] == labels
    assert manifest("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels
    assert manifest("NetworkPolicy")["spec"]["podSelector"]["matchLabels"] == labels
    assert manifest("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]["name"] == "prowess"
    backend = manifest("Ingress")["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
    assert backend["name"] == manifest("Service")["metadata"]["name"]


def test_what_the_container_file_copies_is_there_and_let_through() -> None:
    copied = {
        name
        for word, said in STEPS
        if word == "COPY" and not said.startswith("--from")
        for name in said.split()[:-1]
    }
    assert {name for name in copied if not (ROOT / name).exists()} == set()
    let_through = (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()
    assert {name for name in copied if f"!{name}" not in let_through} == set()


def test_the_collector_names_nothing_that_it_does_not_define_and_asks_every_node() -> None:
    told = yaml.safe_load((DEPLOY / "otel.yaml").read_text())
    for pipeline in told["service"]["pipelines"].values():
        for part, named in pipeline.items():
            assert set(named) <= set(told[part])
    (job,) = told["receivers"]["prometheus"]["config"]["scrape_configs"]
    nodes = [f"{name}:8800" for name in COMPOSE["services"] if name.startswith("node-")]
    assert job["static_configs"][0]["targets"] == nodes
    assert COMPOSE["services"]["proxy"]["environment"]["NODES"].split() == nodes
