"""So many machines at a time, and no further ones once too many failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clusterwright.finding import Finding, Where, refuse
from clusterwright.handoff import Node
from clusterwright.spec.nodeset import fold


@dataclass(frozen=True, slots=True)
class Batches:
    """Sizes as Ansible has them."""

    serial: str = "64"
    """Machines at a time: a number, or a share of all with `%`."""
    max_fail_percentage: float = 25.0
    """A batch of which more failed is the last one."""

    def of(self, nodes: Sequence[Node]) -> list[Sequence[Node]]:
        size = self._size(len(nodes))
        return [nodes[start : start + size] for start in range(0, len(nodes), size)]

    def stopped(self, cluster: str, broken: int, size: int, left: Sequence[str]) -> Finding | None:
        """Why those that are left are not begun with; None where they are."""
        if not left or broken <= size * self.max_fail_percentage / 100:
            return None
        what = (
            f"{broken} of {size} failed, more than {self.max_fail_percentage:g} %; "
            f"{len(left)} machines were not touched: {fold(left)}"
        )
        remedy = "Mend what the findings name, then run the same again; or raise --max-fail-percentage"
        return Finding("CW8182", Where(path=cluster), what, remedy)

    def _size(self, nodes: int) -> int:
        number = self.serial.removesuffix("%")
        if not number.isdecimal() or not int(number):
            what = "neither a number of machines nor a share of all"
            raise refuse("CW8174", Where(path=f"--serial {self.serial}"), what, "Write 16, or 10%")
        return max(1, nodes * int(number) // 100) if self.serial.endswith("%") else int(number)
