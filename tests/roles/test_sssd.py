"""What nodes are given of a directory; that a real sssd takes it is seen in the story of a site."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterwright.bundle.build import Bundle
from clusterwright.bundle.directory import PASSWORD
from clusterwright.bundle.wanted import Wanted
from clusterwright.finding import Refused
from clusterwright.handoff import Handoff, from_plan
from clusterwright.operate.keys import secrets_beside
from clusterwright.plan import plan
from clusterwright.render import render
from clusterwright.spec.load import loads

DESCRIPTION = """
cluster: office
site: {provider: onprem, network: 10.9.0.0/24}
pools:
  head: {roles: [controller, login], machine: generic-x86-16c}
  work: {roles: compute, machine: generic-x86-16c}
users:
  ada: {uid: 2001, admin: true}
  grace: {}
"""
DIRECTORY = """
surroundings:
  directory:
    servers: [ldaps://one.example, ldap://two.example]
    base: dc=example
    ldap_schema: rfc2307bis
    bind: {dn: "cn=nodes,dc=example", password: secrets/ldap}
    login_groups: [gpu, staff]
"""
CONFIGURATION = "/etc/sssd/sssd.conf"
SECRET = "korrektes Pferd, höchst sicher: #=%[1]"


def handoff(more: str = DIRECTORY) -> Handoff:
    return from_plan(plan(loads(DESCRIPTION + more).spec))


def node(of: Handoff, keys: dict[str, bytes]) -> Wanted:
    slurm = {"/etc/slurm/slurm.key": b"k", "/etc/munge/munge.key": b"k"}
    return Bundle(of, render(of), {**slurm, **keys}).all()["work"]


def secrets(folder: Path, password: str) -> dict[str, bytes]:
    (folder / "secrets").mkdir(exist_ok=True)
    (folder / "secrets/ldap").write_text(password)
    return dict(secrets_beside(folder, handoff()))


def test_the_servers_are_asked_in_order_over_tls_for_those_who_may_log_in(tmp_path: Path) -> None:
    made = node(handoff(), secrets(tmp_path, f"{SECRET}\n"))
    settings = next(file.content or "" for file in made.files if file.path == CONFIGURATION).splitlines()
    for line in (
        "ldap_uri = ldaps://one.example, ldap://two.example",
        "ldap_id_use_start_tls = true",
        "ldap_tls_reqcert = demand",
        "ldap_schema = rfc2307bis",
        "ldap_default_bind_dn = cn=nodes,dc=example",
        "access_provider = simple",
        "simple_allow_groups = gpu, staff",
    ):
        assert line in settings
    assert "sssd" in made.active_units
    assert [user.name for user in made.users if user.uid >= 1000] == ["ada"]


def test_nobody_is_kept_out_where_no_group_is_named() -> None:
    anonymous = "surroundings: {directory: {servers: ldaps://one.example, base: dc=example}}"
    made = node(handoff(anonymous), {})
    settings = next(file.content or "" for file in made.files if file.path == CONFIGURATION)
    assert "access_provider = permit\n" in settings
    assert "bind_dn" not in settings
    assert PASSWORD not in {file.path for file in made.files}


def test_the_password_is_in_a_file_of_its_own_that_travels_as_keys_do(tmp_path: Path) -> None:
    keys = secrets(tmp_path, f"{SECRET}\n")
    assert keys[PASSWORD].decode() == f"[domain/cluster]\nldap_default_authtok = {SECRET}\n"
    made = node(handoff(), keys)
    row = next(file for file in made.files if file.path == PASSWORD)
    assert (row.content, row.owner, row.affects) == (None, "root", ("sssd:restart",))
    assert not [file.path for file in made.files if SECRET in (file.content or "")]


@pytest.mark.parametrize(("distribution", "mode"), [("debian-12", 0o600), ("debian-13", 0o640)])
def test_the_mode_is_the_one_that_the_distribution_s_sssd_takes_and_leaves(
    distribution: str, mode: int, tmp_path: Path
) -> None:
    of = handoff(f"{DIRECTORY}software: {{distribution: {distribution}}}\n")
    made = node(of, secrets(tmp_path, SECRET))
    modes = {file.mode for file in made.files if file.path in (CONFIGURATION, PASSWORD)}
    assert modes == {mode}


@pytest.mark.parametrize(
    "password", ["", "\n", "one\ntwo\n", "krb5_server = x\r\nldap_uri = y", " lead", "\x07"]
)
def test_a_password_that_is_no_line_of_text_is_a_finding_that_does_not_show_it(
    password: str, tmp_path: Path
) -> None:
    with pytest.raises(Refused) as refused:
        secrets(tmp_path, password)
    assert [str(finding) for finding in refused.value.findings] == [
        "secrets/ldap: CW8004 is not one line of text. Write the password alone into it"
    ]


def test_a_password_that_is_not_there_is_a_finding(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        secrets_beside(tmp_path, handoff())
    assert [(finding.code, str(finding.where)) for finding in refused.value.findings] == [
        ("CW8004", "secrets/ldap")
    ]


def test_sites_that_name_no_directory_keep_their_own_sssd_untouched() -> None:
    of = from_plan(plan(loads(DESCRIPTION.replace("{}", "{uid: 2002}")).spec))
    assert "sssd" not in {unit.name for unit in node(of, {}).units}
