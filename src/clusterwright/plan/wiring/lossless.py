"""What makes a fabric lossless, for people who set up switches and cards: Markdown, nothing is pushed."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.catalog.lossless import NODES, TITLES, LosslessSetting, settings_of, untold
from clusterwright.catalog.switches import SwitchModel
from clusterwright.plan.wiring.cables import Wiring
from clusterwright.spec.nodeset import fold

_HEAD = """# Lossless settings of {name}

Nothing of this is pushed to a switch: it is for the people who set them up. All of a fabric has to agree on
what marks RoCE, and on the one priority that is paused. Here it is DSCP 26 and priority 3, with DSCP 48 for
notifications of congestion (CNP), as the cards below have it. PFC acts on each hop and ECN where a queue
grows, so leaves and spines, and ports to nodes and between switches, are set alike. Thresholds are where to
begin: measure with jobs of your own.
"""
_UNTOLD = "No source that is known here tells it. Ask the maker of the switch."


def document(wiring: Wiring, name: str) -> str:
    """For every model of the fabric under its system, then for the cards of nodes."""
    parts = [_HEAD.format(name=name), *_switches(wiring), "## Cards of the nodes\n"]
    parts += [_section(setting, setting.topic) for setting in settings_of(NODES)]
    return "\n".join(parts)


def system_of(model: SwitchModel, system: str | None) -> str | None:
    """What runs on a switch, where the description says it or only one thing can."""
    return system or (model.systems[0] if len(model.systems) == 1 else None)


def _switches(wiring: Wiring) -> Iterator[str]:
    models = {switch.model.model: switch.model for switch in wiring.switches}
    for model in models.values():
        names = fold(switch.name for switch in wiring.switches if switch.model.model == model.model)
        system = system_of(model, wiring.system)
        yield f"## {names}: {model.model}{f' under {system}' if system else ''}\n"
        if system is None:
            yield f"The description does not say what runs on it: {' or '.join(model.systems)}.\n"
            continue
        for setting in settings_of(system):
            yield _section(setting, _titled(TITLES[setting.topic]))
        for words in untold(system):
            yield f"### {_titled(words)}\n\n{_UNTOLD}\n"


def _section(setting: LosslessSetting, title: str) -> str:
    lines = "\n".join(["```", *setting.lines, "```", ""]) if setting.lines else ""
    parts = (f"### {title}", setting.why, lines.rstrip("\n"), f"Source: {setting.source} ({setting.date}).")
    return "\n\n".join(part for part in parts if part) + "\n"


def _titled(words: str) -> str:
    return words[0].upper() + words[1:]
