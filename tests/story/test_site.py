"""A cluster in a company's network: REST, containers, own steps, mirror, proxy, authority and directory."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from .directory_server import PASSWORD, DirectoryServer, directory_server
from .ground import Desk
from .site_server import SiteServer, site_server

pytestmark = pytest.mark.lab
FILE = "our site/cluster.yaml"
API = "http://head:6820/slurm/v0.0.42"


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with site_server() as made:
        yield made


@pytest.fixture(scope="module")
def directory(desk: Desk, server: SiteServer) -> Iterator[DirectoryServer]:
    with directory_server(desk.folder / "ldap", server.address) as made:
        yield made


@pytest.fixture(scope="module", autouse=True)
def site(desk: Desk, server: SiteServer, directory: DirectoryServer) -> Path:
    """The folder of the description, with a space in its name."""
    folder = desk.folder / "our site"
    shutil.copytree(Path(__file__).with_name("site"), folder)
    file = folder / "cluster.yaml"
    file.write_text(file.read_text().replace("SERVER", server.address))
    shutil.copy(directory.certificate, folder / "directory.pem")
    (folder / "secrets").mkdir()
    (folder / "secrets/ldap-password").write_text(f"{PASSWORD}\n")
    return folder


def steps(desk: Desk, node: str) -> list[str]:
    return desk.on(node, "cat /var/log/site-steps").splitlines()


def ask(desk: Desk, path: str, token: str = "", body: str = "") -> tuple[int, dict[str, object]]:
    """What slurmrestd answers to ada, whose login shell has the site's proxy in its environment."""
    program = f"""
import json, sys, urllib.error, urllib.request
headers = {{"Content-Type": "application/json"}}
if "{token}":
    headers |= {{"X-SLURM-USER-NAME": "ada", "X-SLURM-USER-TOKEN": "{token}"}}
asked = urllib.request.Request("{API}{path}", data={body.encode()!r} or None, headers=headers)
try:
    answer = urllib.request.urlopen(asked, timeout=300)
except urllib.error.HTTPError as error:
    answer = error
print(json.dumps([answer.status, answer.read().decode()]))
"""
    status, text = json.loads(desk.as_user("python3", "-c", program))
    return status, json.loads(text or "{}") if text[:1] in ("", "{") else {"text": text}


def test_up_goes_through_mirror_and_steps_to_an_accepted_cluster(desk: Desk) -> None:
    assert desk.outcome("up", FILE)["accepted"]
    assert steps(desk, "head") == [
        "first inactive",
        "third active",
        "fourth head",
        "fifth",
        "sixth head",
    ]
    assert steps(desk, "gpu") == ["first inactive", "second gpu", "fourth gpu", "fifth"]


def test_second_up_changes_nothing_and_runs_no_step(desk: Desk) -> None:
    before = steps(desk, "gpu")
    nodes = desk.outcome("up", FILE)["nodes"]
    assert {(node["status"], node["tasks"]) for node in nodes.values()} == {("ok", 0)}
    assert steps(desk, "gpu") == before


def test_step_that_changed_runs_again_where_it_belongs(desk: Desk, site: Path) -> None:
    before = {node: steps(desk, node) for node in ("head", "gpu")}
    third = site / "hooks/third.sh"
    third.write_text(third.read_text().replace("third", "changed"))
    nodes = desk.outcome("up", FILE)["nodes"]
    assert {name: node["status"] for name, node in nodes.items()} == {"head": "changed", "gpu": "ok"}
    again = ["first active", "changed active", "fourth head", "fifth", "sixth head"]
    assert steps(desk, "head") == [*before["head"], *again]
    assert steps(desk, "gpu") == [*before["gpu"], "fifth"]


def test_step_that_is_not_there_is_said_before_anything_runs(desk: Desk, site: Path) -> None:
    third = site / "hooks/third.sh"
    third.rename(third.with_suffix(".away"))
    assert "hooks/third.sh: CW8004" in desk.run("up", FILE, code=2)
    third.with_suffix(".away").rename(third)


def test_rest_answers_a_token_and_nobody_else(desk: Desk) -> None:
    token = desk.on("head", "scontrol token username=ada lifespan=600").strip().partition("=")[2]
    assert ask(desk, "/nodes")[0] == 401
    assert ask(desk, "/nodes", token[:-8] + "AAAAAAAA")[0] in (401, 511)
    status, answer = ask(desk, "/nodes", token)
    assert (status, [node["name"] for node in answer["nodes"]]) == (200, ["gpu"])


def test_rest_submits_a_job_as_the_user_of_the_token(desk: Desk) -> None:
    token = desk.on("head", "scontrol token username=ada lifespan=600").strip().partition("=")[2]
    job = {
        "script": "#!/bin/sh\nid -un > /home/ada/by-rest\n",
        "job": {
            "name": "by-rest",
            "current_working_directory": "/home/ada",
            "environment": ["PATH=/usr/bin:/bin"],
        },
    }
    status, answer = ask(desk, "/job/submit", token, json.dumps(job))
    assert status == 200, answer
    wait = "until [ -s /home/ada/by-rest ]; do sleep 0.2; done; cat /home/ada/by-rest"
    assert desk.on("gpu", f"timeout 300 sh -c '{wait}'") == "ada\n"


# An image of the node's own files: nothing is pulled, and the container has no network. Both streams are made
# one inside: podman hands on two in no order.
CONTAINER = """
cd; tar -chf box.tar -C / usr/bin/dash usr/bin/head lib64/ld-linux-x86-64.so.2 lib/x86_64-linux-gnu/libc.so.6
podman import --quiet box.tar box >/dev/null
echo 'exec 2>&1; for n in 0 1 2; do head -c0 /dev/nvidia$n; done; echo done' >look
podman run --rm --network=none -v $HOME:/home -v /dev:/dev localhost/box:latest dash /home/look 2>&1
"""


def test_container_of_a_user_runs_in_a_job_and_has_its_devices_only(desk: Desk) -> None:
    said = desk.as_user("srun", "--gres=gpu:2", "sh", "-c", CONTAINER)
    assert re.findall(r"/dev/nvidia(\d)'.*: (No such device or address|Operation not permitted)", said) == [
        ("0", "No such device or address"),  # reached the device, which no driver serves
        ("1", "No such device or address"),
        ("2", "Operation not permitted"),
    ]
    assert "done" in said.splitlines()


def test_authority_of_the_site_is_trusted(desk: Desk, site: Path) -> None:
    server = (site / "server.pem").read_text()
    for node in ("head", "gpu"):
        verify = f"cat > /tmp/server.pem <<'END'\n{server}END\nopenssl verify /tmp/server.pem"
        assert desk.on(node, verify) == "/tmp/server.pem: OK\n"


def test_packages_come_from_the_mirror_directly_and_the_rest_through_the_proxy(
    desk: Desk, server: SiteServer
) -> None:
    server.direct.clear()
    desk.on("gpu", "apt-get update -qq")
    assert any(path.endswith("/dists/trixie/InRelease") for path in server.direct)
    assert server.proxied == []
    fetch = "import urllib.request; urllib.request.urlopen('http://elsewhere.example/', timeout=20)"
    for start in (f'. /etc/profile; python3 -c "{fetch}"', f'systemd-run -q --wait python3 -c "{fetch}"'):
        desk.on("gpu", f"{start} 2>/dev/null; true")
    assert server.proxied == ["http://elsewhere.example/"] * 2


def test_time_server_of_the_site_is_asked(desk: Desk) -> None:
    assert "server ntp.example iburst" in desk.on("gpu", "chronyd -p").splitlines()


def by_ssh(desk: Desk, person: str, command: str, code: int = 0) -> str:
    """Somebody of the directory, who has nothing but their own key, on the login node."""
    options = "-i /root/person -o BatchMode=yes -o StrictHostKeyChecking=no -o LogLevel=ERROR"
    return desk.on("head", f"ssh {options} {person}@localhost {shlex.quote(command)}", code=code)


def test_person_of_the_directory_logs_in_with_the_key_it_has_and_runs_a_job(
    desk: Desk, directory: DirectoryServer
) -> None:
    desk.on("head", f"umask 077; cat > /root/person <<'END'\n{directory.key.read_text()}END")
    assert by_ssh(desk, "grace", "id -un && pwd && ls -ld /home/grace | cut -c1-10").split() == [
        "grace",
        "/home/grace",
        "drwx------",
    ]
    assert by_ssh(desk, "grace", "srun id -u").strip() == "70001"


def test_person_who_is_in_no_group_that_may_stays_outside(desk: Desk) -> None:
    assert desk.on("head", "id -u mallory").strip() == "70002"
    by_ssh(desk, "mallory", "true", code=255)


def test_password_of_the_directory_is_for_nobody_but_root(desk: Desk) -> None:
    assert PASSWORD in desk.on("gpu", "cat /etc/sssd/conf.d/50-clusterwright.conf")
    desk.as_user("sh", "-c", "! cat /etc/sssd/conf.d/* /etc/sssd/sssd.conf")
    kept = [file for file in (desk.state / "clusterwright/clusters").rglob("*") if file.is_file()]
    assert kept and not [file for file in kept if PASSWORD.encode() in file.read_bytes()]


def test_who_was_here_gets_in_while_the_directory_is_silent(desk: Desk, directory: DirectoryServer) -> None:
    directory.stop()
    assert by_ssh(desk, "grace", "srun id -u").strip() == "70001"
    desk.on("gpu", "/usr/lib/clusterwright/gate --quick")
    directory.start()


def test_node_that_knows_a_person_no_more_gets_no_job_until_it_does(desk: Desk) -> None:
    desk.on("gpu", "systemctl stop 'sssd*.socket' sssd && rm -f /var/lib/sss/mc/*")
    look, reason = "/usr/lib/clusterwright/gate --quick", "sinfo --noheader --format=%E"
    assert "directory: expected sssd knows each person of the directory" in desk.on("gpu", look, code=1)
    assert "gate directory" in desk.on("head", reason)
    known = "timeout 60 sh -c 'until getent --service sss passwd grace; do sleep 0.2; done'"
    desk.on("gpu", f"systemctl start sssd && {known} && {look}")
    assert desk.on("head", reason).strip() == "none"


def test_step_that_fails_before_acceptance_refuses_it(desk: Desk) -> None:
    desk.on("gpu", "touch /etc/not-acceptable")
    assert "own-steps" in desk.run("accept", "story", code=1)
    desk.on("gpu", "rm /etc/not-acceptable")
    desk.run("accept", "story")
