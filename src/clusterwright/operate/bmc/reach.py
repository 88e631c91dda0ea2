"""The first protocol that a BMC speaks, in the order of the description."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TypeVar

from clusterwright.finding import Finding, Refused, Where
from clusterwright.operate.bmc import ipmi
from clusterwright.operate.bmc.certificate import reached, silent
from clusterwright.operate.bmc.machine import Bmc, Way

AT_ONCE = 64
T = TypeVar("T")


@contextmanager
def reach(bmc: Bmc) -> Iterator[Way]:
    """Whoever takes connections for Redfish is asked by it, and never by the weaker one after a refusal."""
    way = _way(bmc)
    try:
        yield way
    finally:
        way.close()


def _way(bmc: Bmc) -> Way:
    for protocol in bmc.protocols:
        if protocol == "ipmi" and ipmi.answers(bmc):
            return ipmi.Ipmi(bmc)
        if protocol == "redfish" and reached(bmc):
            if find_spec("sushy") is None:
                remedy = "Run `pip install 'clusterwright[bmc]'`"
                raise bmc.refuse("CW8200", "the library that speaks Redfish is not installed", remedy)
            from clusterwright.operate.bmc.redfish import Redfish  # slow to import

            return Redfish(bmc)
    asked = {"redfish": f"Redfish, port {bmc.redfish_port}", "ipmi": f"IPMI, port {bmc.ipmi_port}"}
    raise silent(bmc, "; ".join(asked[protocol] for protocol in bmc.protocols))


def each(
    bmcs: Sequence[Bmc],
    ask: Callable[[Bmc], T],
    at_once: int = AT_ONCE,
    stop: Callable[[], None] = lambda: None,
) -> tuple[Mapping[str, T], list[Finding]]:
    """All beside each other: one that is dead or refuses has findings, and stops no other.

    `stop` is called where a person interrupts it, for those that wait for something."""

    def one(bmc: Bmc) -> T | tuple[Finding, ...]:
        try:
            return ask(bmc)
        except Refused as refused:
            return refused.findings

    with ThreadPoolExecutor(max(1, min(at_once, len(bmcs)))) as pool:
        try:
            answers = list(pool.map(one, bmcs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            stop()
            raise
    found: dict[str, T] = {}
    findings: list[Finding] = []
    for bmc, answer in zip(bmcs, answers, strict=True):
        if isinstance(answer, tuple) and answer and isinstance(answer[0], Finding):
            findings += answer
        else:
            found[bmc.node] = answer  # type: ignore[assignment]  # what `ask` gave
    return found, findings


def differs(bmc: Bmc, serial: str) -> Finding | None:
    """A machine that is another one than described: what is meant for its node would hit a stranger."""
    if not (bmc.serial and serial) or bmc.serial == serial:
        return None
    what = f"its BMC at {bmc.address} says serial number {serial}, and the description has {bmc.serial}"
    remedy = "See which machine it is, and mend `serial` or `bmc_address` in the file of machines"
    return Finding("CW8198", Where(path=bmc.node), what, remedy)
