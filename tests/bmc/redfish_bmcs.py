"""BMCs that speak Redfish: sushy-tools' emulator over HTTPS, one address of the loopback for each machine.

The emulator's fake driver has no serial numbers and is in no hurry; both are added here.
"""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import bcrypt
import flask
from sushy_tools.emulator import main as emulator
from sushy_tools.emulator.resources.systems import fakedriver
from tests.ports import free
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

USER, PASSWORD = "operator", "s3cret-of-bmcs"
PORT = free()
CARD = "00:00:5e:00:53:{:02x}"


class Driver(fakedriver.FakeDriver):
    """Does at once what it is told, but for machines whose system does not end."""

    def __init__(self) -> None:
        super().__init__()
        self._telling = threading.Lock()
        self._systems = {
            system["uuid"]: dict(system) for system in self._config["SUSHY_EMULATOR_FAKE_SYSTEMS"]
        }

    def set_power_state(self, identity: str, state: str) -> None:
        with self._telling:
            self._set_power_state(identity, state)

    def _set_power_state(self, identity: str, state: str) -> None:
        system = self._get(identity)
        system.setdefault("told", []).append(state)
        goes = "Off" if state in ("ForceOff", "GracefulShutdown") else "On"
        if system.get("broken") or (state == "GracefulShutdown" and system.get("stubborn")):
            goes = system["power_state"]
        others = [other for other in self._systems if other != identity]
        system["beside"] = sum(self._systems[other].get("looks", 0) > 0 for other in others)
        for other in others if state == "On" else ():
            self._systems[other]["waits_for"] = self._systems[other].get("waits_for", 0) - 1
        self._update(system, power_state=goes, looks=2 if state == "On" else 0)

    def get_power_state(self, identity: str) -> str:
        """Off for a moment longer after it was switched on, and until as many others are as it waits for."""
        system = self._get(identity)
        if system.get("waits_for", 0) > 0:
            return "Off"
        if looks := system.get("looks", 0):
            self._update(system, looks=looks - 1)
            return "Off"
        return str(system["power_state"])


class Bmcs:
    """All of them. `machines` are their fake systems by address."""

    def __init__(self, machines: dict[str, dict[str, Any]], certificates: dict[str, Path]) -> None:
        self.machines, self.certificates = machines, certificates
        self.driver: Driver
        self.sessions: Sessions

    def system(self, address: str) -> dict[str, Any]:
        return self.driver._get(self.machines[address]["uuid"])

    def change(self, address: str, **changes: Any) -> None:
        self.driver._update(self.system(address), **changes)


class Sessions:
    """The session service that the emulator lacks: a token for a login, in place of a password each time."""

    PATH = "/redfish/v1/SessionService/Sessions"
    ROOT: ClassVar[dict[str, Any]] = {
        "SessionService": {"@odata.id": "/redfish/v1/SessionService"},
        "Links": {"Sessions": {"@odata.id": PATH}},
    }
    """What its root says then."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.open: set[str] = set()
        self.tries = 0

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if path == self.PATH and method == "POST":
            self.tries += 1
            said = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
            if (said["UserName"], said["Password"]) != (USER, PASSWORD):
                return self._answer(start, "401 Unauthorized", [])
            token = f"token{self.tries}"
            self.open.add(token)
            return self._answer(
                start, "201 Created", [("X-Auth-Token", token), ("Location", f"{path}/{token}")]
            )
        if path.startswith(self.PATH) and method == "DELETE":
            self.open.discard(path.rpartition("/")[2])
            return self._answer(start, "200 OK", [])
        if environ.get("HTTP_X_AUTH_TOKEN") in self.open:
            secret = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
            environ["HTTP_AUTHORIZATION"] = f"Basic {secret}"
        return self._inner(environ, start)

    @staticmethod
    def _answer(start: Any, status: str, headers: list[tuple[str, str]]) -> list[bytes]:
        start(status, [("Content-Type", "application/json"), *headers])
        return [b"{}"]


class _Quiet(WSGIRequestHandler):
    def log(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def served(bmcs: Bmcs, folder: Path) -> Iterator[None]:
    secret = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
    (folder / "users").write_text(f"{USER}:{secret}\n")
    settings = {
        "SUSHY_EMULATOR_FAKE_DRIVER": True,
        "SUSHY_EMULATOR_FAKE_SYSTEMS": list(bmcs.machines.values()),
        "SUSHY_EMULATOR_STATE_DIR": str(folder),
        "SUSHY_EMULATOR_AUTH_FILE": str(folder / "users"),
    }
    fakedriver.FakeDriver = Driver  # the emulator looks it up there
    emulator.app.configure(extra_config=settings)
    bmcs.driver, bmcs.sessions = emulator.app.systems, Sessions(emulator.app)
    owners = {machine["uuid"]: address for address, machine in bmcs.machines.items()}

    @emulator.app.after_request
    def as_one_machine(response: flask.Response) -> flask.Response:
        """What is not of the machine that is asked is left out; what the emulator lacks is added."""
        address, path = flask.request.environ["SERVER_NAME"], flask.request.path.rstrip("/")
        body = response.get_json(silent=True)
        if path in ("/redfish/v1/Systems", "/redfish/v1/Managers") and body:
            mine = [one for one in body["Members"] if owners[one["@odata.id"].rpartition("/")[2]] == address]
            response.set_data(json.dumps({**body, "Members": mine, "Members@odata.count": len(mine)}))
        elif body and (
            adds := bmcs.system(address)
            .get("says", {})
            .get(path.replace(bmcs.machines[address]["uuid"], "ID"))
        ):
            response.set_data(json.dumps(adds if "error" in body else {**body, **adds}))
            response.status_code = 200
        return response

    servers: list[BaseWSGIServer] = []
    for address, certificate in bmcs.certificates.items():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server = make_server(
            address, PORT, bmcs.sessions, threaded=True, ssl_context=context, request_handler=_Quiet
        )
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        servers.append(server)
    try:
        yield
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
