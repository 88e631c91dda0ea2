# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)
"""systemd units: enabled, disabled, started, stopped, and what is owed to them because files changed."""

from __future__ import annotations

from ansible_collections.clusterwright.cluster.plugins.module_utils import state

ARGUMENTS = {
    "units": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "name": {"type": "str", "required": True},
            "enabled": {"type": "bool", "default": True},
            "active": {"type": "bool", "default": True},
        },
    },
}
PROPERTIES = (
    "Names",
    "LoadState",
    "ActiveState",
    "SubState",
    "UnitFileState",
    "NeedDaemonReload",
    "ConditionResult",
    "ConditionTimestampMonotonic",
)
SWITCHED_ON = ("enabled", "enabled-runtime", "static", "alias", "indirect", "generated")
RUNS = ("active", "activating", "reloading", "refreshing")


def facts_of(text: str, names: list) -> dict:
    """Output of `systemctl show`, by the name that was asked for."""
    blocks = [
        dict(line.split("=", 1) for line in block.splitlines() if "=" in line) for block in text.split("\n\n")
    ]
    return dict(zip(names, (block for block in blocks if block)))


def plan(units: list, facts: dict, pending: dict) -> list:
    """`systemctl` calls, in order, that bring the units from what they are to what they should be."""
    calls = []
    if any(facts[unit["name"]].get("NeedDaemonReload") == "yes" for unit in units):
        calls.append(["daemon-reload"])
    present = [
        u for u in units if facts[u["name"]].get("LoadState") != "not-found" or u["active"] or u["enabled"]
    ]
    off = [
        u["name"] for u in present if not u["enabled"] and facts[u["name"]].get("UnitFileState") == "enabled"
    ]
    on = [
        u["name"]
        for u in present
        if u["enabled"] and facts[u["name"]].get("UnitFileState") not in SWITCHED_ON
    ]
    stop = [u["name"] for u in present if not u["active"] and facts[u["name"]].get("ActiveState") in RUNS]
    for verb, names in (("disable", off), ("stop", stop), ("enable", on)):
        if names:
            calls.append([verb, *names])
    for unit in present:
        seen, owed = facts[unit["name"]], pending.get(unit["name"])
        verb = _verb(seen, owed)
        # What it found missing when it was tried may be the very file that was placed since.
        if unit["active"] and verb and (owed or not stays_away(seen)):
            calls.append([verb, unit["name"]])
    return calls


def stays_away(seen: dict) -> bool:
    """Its own Condition says that it has nothing to do here, as chrony's where the clock is the host's."""
    tried = seen.get("ConditionTimestampMonotonic", "0") not in ("", "0")
    return seen.get("ActiveState") == "inactive" and tried and seen.get("ConditionResult") == "no"


def _verb(seen, owed):
    active = seen.get("ActiveState")
    if active == "active":
        return owed
    # A start would wait until systemd tries again by itself.
    if seen.get("SubState") == "auto-restart":
        return "restart"
    if active in RUNS:
        return "restart" if owed == "restart" else "start"
    return "start"


class Units:
    """The units of one run."""

    def __init__(self, module) -> None:
        self.module = module
        self.units = module.params["units"]
        self.folder = module.params["state_folder"]
        self.names = [unit["name"] for unit in self.units]

    def run(self) -> list:
        calls = plan(self.units, self.facts(), state.recall(self.folder, state.PENDING))
        if not self.module.check_mode:
            for call in calls:
                self.call(call)
            self.settle()
        return [" ".join(call) for call in calls]

    def facts(self) -> dict:
        argv = ["systemctl", "show", f"--property={','.join(PROPERTIES)}", "--", *self.names]
        _code, output, _error = self.module.run_command(argv, check_rc=True)
        return facts_of(output, self.names)

    def call(self, call: list) -> None:
        # Without it, systemctl also runs update-rc.d for each unit that has a twin in /etc/init.d: 0.5 s each
        environment = {"SYSTEMCTL_SKIP_SYSV": "1"}
        code, _output, error = self.module.run_command(["systemctl", *call], environ_update=environment)
        if code:
            self.module.fail_json(msg=f"systemctl {' '.join(call)}: {self.cause(call[-1]) or error.strip()}")

    def cause(self, unit: str) -> str:
        """The unit's own last words say more than systemctl's."""
        argv = ["journalctl", "--quiet", "--no-pager", "--output=cat", "--lines=12", f"--unit={unit}"]
        return self.module.run_command(argv)[1].strip()

    def settle(self) -> None:
        pending = state.recall(self.folder, state.PENDING)
        owed = {unit: action for unit, action in pending.items() if unit not in self.names}
        if owed != pending:
            state.note(self.folder, state.PENDING, owed)
