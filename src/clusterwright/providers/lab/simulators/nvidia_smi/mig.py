"""`nvidia-smi mig`: list profiles and instances, create and destroy them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from ..node import Answer, Node
from ..partitions import Instance, Profile, instances, keep, placed, profiles
from ..reading import Reading

_PROFILES_RULE = f"+{'-' * 79}+\n"
_INSTANCES_RULE = f"+{'-' * 55}+\n"
_COMPUTE_RULE = f"+{'-' * 68}+\n"
_NOT_ENABLED = "No MIG-enabled devices found.\n"
_FULL = "Insufficient Resources"
_CREATED = "Successfully created compute instance ID {:>2} on {} GPU instance ID {:>2}"
_DESTROYED = "Successfully destroyed compute instance ID {:>2} from {} GPU instance ID {:>2}"
_HELP = "Invalid combination of input arguments. Please run 'nvidia-smi mig -h' for help.\n"


def answer(node: Node, readings: list[Reading], arguments: Sequence[str]) -> Answer:
    """One of its lists, or a change by root."""
    words, chosen = _without_identities(arguments)
    enabled = [reading for reading in readings if reading.mig_mode]
    if words[:1] in (["-lgip"], ["--list-gpu-instance-profiles"]):
        return _list_profiles(node, enabled)
    if words[:1] in (["-lgi"], ["--list-gpu-instances"]):
        return _list_instances(node, enabled)
    if words[:1] in (["-lci"], ["--list-compute-instances"]):
        return _list_compute(node, enabled)
    if not enabled:
        return Answer(_NOT_ENABLED, 6)
    if os.geteuid() != 0:
        return Answer("Insufficient Permissions\n", 4)
    if words[:1] in (["-cgi"], ["--create-gpu-instance"]) and len(words) > 1:
        return _create(
            node, enabled, words[1].split(","), compute={"-C", "--default-compute-instance"} & set(words)
        )
    if words[:1] in (["-cci"], ["--create-compute-instance"]):
        return _change_compute(node, enabled, chosen, True, _CREATED)
    if words[:1] in (["-dci"], ["--destroy-compute-instance"]):
        return _change_compute(node, enabled, chosen, False, _DESTROYED)
    if words[:1] in (["-dgi"], ["--destroy-gpu-instance"]):
        return _destroy(node, enabled, chosen)
    return Answer(_HELP, 2)


def _without_identities(arguments: Sequence[str]) -> tuple[list[str], frozenset[int] | None]:
    """What is asked for, and the GPU instances that it is asked of; None for all of them."""
    words: list[str] = []
    chosen: frozenset[int] | None = None
    rest = iter(arguments)
    for word in rest:
        name, joined, value = word.partition("=")
        if name in ("-i", "--id", "-gi", "--gpu-instance-id"):
            given = value if joined else next(rest, "")
            if name in ("-gi", "--gpu-instance-id"):
                chosen = frozenset(int(number) for number in given.split(",") if number.isdigit())
        else:
            words.append(word)
    return words, chosen


def _index(node: Node, reading: Reading) -> int:
    return node.gpus.index(reading.gpu)


def _list_profiles(node: Node, readings: list[Reading]) -> Answer:
    if not readings:
        return Answer(_NOT_ENABLED, 6)
    text = _PROFILES_RULE
    text += f"| {'GPU instance profiles:':<78}|\n"
    text += f"| {'GPU   Name               ID    Instances   Memory     P2P    SM    DEC   ENC  ':<78}|\n"
    text += f"| {'                               Free/Total   GiB              CE    JPEG  OFA  ':<78}|\n"
    text += f"|{'=' * 79}|\n"
    for reading in readings:
        known, all_profiles = instances(node, reading.gpu.uuid), profiles(reading.model.mig)
        for profile in all_profiles:
            text += _profile(_index(node, reading), profile, _room(profile, known, all_profiles))
            text += _PROFILES_RULE
    return Answer(text)


def _room(profile: Profile, known: tuple[Instance, ...], all_profiles: tuple[Profile, ...]) -> int:
    count = 0
    while (more := placed(profile, known, all_profiles)) is not None:
        known, count = (*known, more), count + 1
    return count


def _profile(index: int, profile: Profile, free: int) -> str:
    part = {name: value or "N/A" for name, value in profile.parts.items()}
    first = f"| {index:>3}  {'MIG ' + profile.name:<19}{profile.id:>3}{f'{free}/{profile.instances}':>8}"
    first += (
        f"{profile.memory_gib or 'N/A':>12}{'No':>9}{part['sm']:>7}{part['decoders']:>6}{part['encoders']:>6}"
    )
    second = f"|{'':<62}{part['copy_engines']:>2}{part['jpeg']:>6}{part['ofa']:>6}"
    return f"{first:<80}|\n{second:<80}|\n"


def _list_instances(node: Node, readings: list[Reading]) -> Answer:
    rows = [(reading, instance) for reading in readings for instance in instances(node, reading.gpu.uuid)]
    if not rows:
        return Answer("No GPU instances found: Not Found\n" if readings else _NOT_ENABLED, 6)
    text = _INSTANCES_RULE + f"| {'GPU instances:':<54}|\n"
    text += f"| {'GPU   Name             Profile  Instance   Placement  ':<54}|\n"
    text += f"| {'                         ID       ID       Start:Size ':<54}|\n|{'=' * 55}|\n"
    for reading, instance in rows:
        profile = _named(reading, instance.profile)
        text += f"| {_index(node, reading):>3}  {'MIG ' + profile.name:<15}{profile.id:>8}{instance.id:>9}"
        text += f"{instance.start:>10}:{profile.slices}     |\n{_INSTANCES_RULE}"
    return Answer(text)


def _list_compute(node: Node, readings: list[Reading]) -> Answer:
    rows = [
        (reading, each) for reading in readings for each in instances(node, reading.gpu.uuid) if each.compute
    ]
    if not rows:
        return Answer("No compute instances found: Not Found\n" if readings else _NOT_ENABLED, 6)
    text = _COMPUTE_RULE + f"| {'Compute instances:':<67}|\n"
    text += f"| {'GPU     GPU       Name             Profile   Instance   Placement  ':<67}|\n"
    text += f"| {'      Instance                       ID        ID       Start:Size ':<67}|\n"
    text += f"| {'        ID':<67}|\n|{'=' * 68}|\n"
    for reading, instance in rows:
        profile = _named(reading, instance.profile)
        text += f"| {_index(node, reading):>3}{instance.id:>7}       "
        text += f"{'MIG ' + profile.name:<15}{profile.compute_id:>7}"
        text += f"{0:>10}{0:>11}:{profile.compute}     |\n{_COMPUTE_RULE}"
    return Answer(text)


def _named(reading: Reading, name: str) -> Profile:
    """By name, with or without `MIG `, or by id."""
    wanted = name.strip().removeprefix("MIG ")
    return next(each for each in profiles(reading.model.mig) if wanted in (each.name, str(each.id)))


def _create(node: Node, readings: list[Reading], wanted: list[str], *, compute: object) -> Answer:
    text = ""
    for reading in readings:
        gpu = f"GPU {_index(node, reading):>2}"
        for name in wanted:
            known, all_profiles = instances(node, reading.gpu.uuid), profiles(reading.model.mig)
            name, _, place = name.partition(":")
            try:
                profile = _named(reading, name)
            except StopIteration:
                return Answer(f"{text}Unable to find profile {name}: Invalid Argument\n", 2)
            made = placed(profile, known, all_profiles, int(place) if place.isdigit() else None)
            if made is None:
                text += f"Unable to create a GPU instance on {gpu} using profile {profile.id}: {_FULL}\n"
                return Answer(f"{text}Failed to create GPU instances: {_FULL}\n", 19)
            keep(node, reading.gpu.uuid, (*known, replace(made, compute=bool(compute))))
            using = f"using profile MIG {profile.name}"
            text += (
                f"Successfully created GPU instance ID {made.id:>2} on {gpu} {using} (ID {profile.id:>2})\n"
            )
            if compute:
                text += f"{_CREATED.format(0, gpu, made.id)} {using} (ID {profile.compute_id:>2})\n"
    return Answer(text)


def _change_compute(
    node: Node, readings: list[Reading], chosen: frozenset[int] | None, on: bool, done: str
) -> Answer:
    text = ""
    for reading in readings:
        known = instances(node, reading.gpu.uuid)
        changed = [each for each in known if each.compute != on and (chosen is None or each.id in chosen)]
        for each in changed:
            text += done.format(0, f"GPU {_index(node, reading):>2}", each.id) + "\n"
        keep(
            node,
            reading.gpu.uuid,
            (replace(each, compute=on) if each in changed else each for each in known),
        )
    return Answer(text) if text else Answer("No GPU instances found: Not Found\n", 6)


def _destroy(node: Node, readings: list[Reading], chosen: frozenset[int] | None) -> Answer:
    text, status = "", 0
    for reading in readings:
        known, gpu = instances(node, reading.gpu.uuid), f"GPU {_index(node, reading):>2}"
        kept = []
        for each in known:
            if chosen is not None and each.id not in chosen:
                kept.append(each)
                continue
            what = f"destroy GPU instance ID {each.id:>2} from {gpu}"
            if each.compute:
                kept.append(each)
                text, status = f"{text}Unable to {what}: In use by another client\n", 19
            else:
                text += f"Successfully {what}\n".replace("destroy ", "destroyed ", 1)
        keep(node, reading.gpu.uuid, kept)
    return Answer(text, status) if text else Answer("No GPU instances found: Not Found\n", 6)
