"""A BMC asked by Redfish, through sushy: OpenStack Ironic drives all vendors' machines with it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any

import sushy
from requests.adapters import HTTPAdapter
from sushy import auth, connector, exceptions

from clusterwright.operate.bmc import redfish_look as look
from clusterwright.operate.bmc.certificate import silent, trusted, unverified
from clusterwright.operate.bmc.credentials import login
from clusterwright.operate.bmc.machine import Action, Bmc, Device, Identity, Seen

_ROOT = "/redfish/v1/"
_SECONDS = 30
_RESETS: Mapping[Action, Sequence[sushy.ResetType]] = {
    "on": (sushy.ResetType.ON, sushy.ResetType.FORCE_ON, sushy.ResetType.PUSH_POWER_BUTTON),
    "shutdown": (sushy.ResetType.GRACEFUL_SHUTDOWN,),
    "off": (sushy.ResetType.FORCE_OFF,),
    "reset": (sushy.ResetType.FORCE_RESTART, sushy.ResetType.POWER_CYCLE),
}
"""What a BMC is asked for; the first that it says it can."""
_SOURCES: Mapping[Device, sushy.BootSource] = {
    "disk": sushy.BootSource.HDD,
    "network": sushy.BootSource.PXE,
}
# What it would say of passwords and retries is said by findings.
logging.getLogger("sushy").setLevel(logging.CRITICAL + 1)


class _Pinned(HTTPAdapter):
    """Talks to whoever shows one certificate, and to nobody else."""

    def __init__(self, fingerprint: str) -> None:
        self._fingerprint = fingerprint
        super().__init__()

    def init_poolmanager(self, *words: Any, **options: Any) -> Any:
        options |= {"assert_fingerprint": self._fingerprint, "ssl_context": unverified()}
        return super().init_poolmanager(*words, **options)


class _Connector(connector.Connector):  # type: ignore[misc]  # sushy has no types
    def __init__(self, bmc: Bmc, fingerprint: str) -> None:
        url = f"https://{bmc.address}:{bmc.redfish_port}"
        super().__init__(url, verify=False, default_request_timeout=_SECONDS)
        self._session.mount("https://", _Pinned(fingerprint))
        # Neither a proxy of the environment's nor a password of ~/.netrc.
        self._session.trust_env = False


class Redfish:
    """Of one BMC that showed the right certificate and took the login."""

    via = "Redfish"

    def __init__(self, bmc: Bmc) -> None:
        self._bmc = bmc
        self._login = login(bmc)
        self._fingerprint = trusted(bmc)
        self._connector = _Connector(bmc, self._fingerprint)
        self._auth: auth.AuthBase | None = None
        try:
            self._log_in()
        except BaseException:
            self.close()
            raise

    def _log_in(self) -> None:
        with self._told():
            root = self.read(_ROOT)
            if not root.get("RedfishVersion"):
                raise self._no_redfish()
            # One of the two, never one after the other: each wrong try may count towards a lock.
            kind = auth.SessionAuth if "SessionService" in root else auth.BasicAuth
            self._auth = kind(self._login.user, self._login.password)
            self._service = sushy.Sushy(
                self._connector._url, auth=self._auth, connector=self._connector, server_side_retries=2
            )
            _ = self._system

    def read(self, path: str) -> dict[str, Any]:
        """A resource as it stands."""
        body = self._connector.get(path).json()
        return body if isinstance(body, dict) else {}

    @cached_property
    def _system(self) -> Any:
        """The machine itself, where its BMC shows parts of it as further systems."""
        systems = self._service.get_system_collection().get_members()
        if not systems:
            raise self._bmc.refuse("CW8196", "its Redfish knows no machine", "See what this BMC is of")
        with_serial = [one for one in systems if self._bmc.serial and one.serial_number == self._bmc.serial]
        boards = [one for one in systems if not one.identity.startswith("HGX_")]
        return (with_serial or boards or systems)[0]

    def seen(self) -> Seen:
        with self._told():
            body, bmc = self._system.json, look.manager(self.read, self._system.json)
            return Seen(
                via=self.via,
                power=look.power(body),
                health=look.health(body),
                boot=look.boot(body),
                serial=self.serial(),
                model=" ".join(filter(None, (body.get("Manufacturer"), body.get("Model")))),
                bmc=str(bmc.get("Model") or bmc.get("Name") or ""),
                firmware=str(bmc.get("FirmwareVersion") or ""),
                worst=look.worst(self.read, body),
            )

    def power(self) -> str:
        with self._told():
            self._system.refresh(force=True)
            return look.power(self._system.json)

    def serial(self) -> str:
        """The described one, where any of its numbers is that: a sticker may have the chassis'."""
        with self._told():
            own, *others = look.serials(self._system.json)
            if self._bmc.serial and self._bmc.serial != own:
                others += look.chassis_serials(self.read, self._system.json)
            return self._bmc.serial if self._bmc.serial in others else own

    def act(self, action: Action) -> None:
        with self._told():
            able = self._system.get_allowed_reset_system_values()
            wanted = next((one for one in _RESETS[action] if one in able), None)
            if wanted is None:
                there = ", ".join(sorted(one.value for one in able))
                what = f"it cannot do '{action}'; it says that it can do {there or 'nothing'}"
                raise self._unable(what)
            self._system.reset_system(wanted)

    def boot(self, device: Device, *, once: bool) -> None:
        with self._told():
            every = sushy.BootSourceOverrideEnabled
            self._system.set_system_boot_options(
                target=_SOURCES[device], enabled=every.ONCE if once else every.CONTINUOUS
            )

    def boots_from(self) -> str:
        with self._told():
            self._system.refresh(force=True)
            return look.boot(self._system.json)

    def identity(self) -> Identity:
        with self._told():
            body = self._system.json
            return Identity(
                serial=self.serial(),
                model=" ".join(filter(None, (body.get("Manufacturer"), body.get("Model")))),
                macs=look.macs(self.read, body),
                bmc_mac=look.bmc_mac(self.read, look.manager(self.read, body), self._bmc.address),
                certificate=self._fingerprint,
                gpus=look.gpus(
                    self.read, [one.json for one in self._service.get_system_collection().get_members()]
                ),
                name=str(body.get("HostName") or ""),
            )

    def console(self) -> str:
        """How the serial console is reached: `ssh PORT`, or nothing where it is IPMI's or unknown."""
        with self._told():
            return look.console(self._system.json)

    def close(self) -> None:
        """Sessions are few: the next ones are refused where they are left open."""
        with suppress(exceptions.SushyError):
            if self._auth:
                self._auth.close()
        self._connector.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What sushy raises, as findings that name the cause."""
        bmc = self._bmc
        try:
            yield
        except exceptions.AccessError as error:
            if error.status_code == 403:
                what = f"{self._login.user} may not do that there ({error.detail or 'forbidden'})"
                raise bmc.refuse("CW8193", what, "Give that user the role of an operator or above") from None
            what = f"lets {self._login.user} not in with the password of {bmc.credentials}"
            raise bmc.refuse("CW8193", what, "Mend it where it is kept; it was tried once") from None
        except exceptions.ConnectionError:
            raise silent(bmc, f"port {bmc.redfish_port}: the connection broke") from None
        except (
            exceptions.InvalidParameterValueError,
            exceptions.MissingActionError,
            exceptions.MissingAttributeError,
        ) as error:
            raise self._unable(str(error).replace("\n", " ")[:300]) from None
        except exceptions.ResourceNotFoundError:
            raise self._no_redfish() from None
        except exceptions.HTTPError as error:
            said = str(error.detail or error)[:300]
            if error.status_code in (405, 501):
                raise self._unable(said) from None
            remedy = "Look at its event log; a BMC that is stuck is mended by its own restart"
            raise bmc.refuse("CW8199", f"it answers with an error: {said}", remedy) from None
        except (exceptions.SushyError, ValueError, TypeError, KeyError, AttributeError) as error:
            # Documents of a stranger's firmware: of any form, and one of them must not stop the others.
            what = f"its answer is not understood: {str(error)[:200]}"
            raise bmc.refuse(
                "CW8196", what, "See that it is a BMC, and that its firmware is current"
            ) from None

    def _no_redfish(self) -> Exception:
        what = f"who answers at {self._bmc.address}, port {self._bmc.redfish_port} speaks no Redfish"
        return self._bmc.refuse("CW8196", what, "See that this is the address of its BMC, or use `ipmi`")

    def _unable(self, what: str) -> Exception:
        return self._bmc.refuse("CW8197", what, "Update its firmware, or do it with the vendor's own tool")
