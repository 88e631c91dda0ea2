"""nvidia-ctk: a CDI specification of this node's devices, and the settings that it writes for runtimes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from .node import Answer, Node
from .reading import read_gpu

_RUNTIMES = {
    "containerd": "/etc/containerd/conf.d/99-nvidia.toml",
    "crio": "/etc/crio/conf.d/99-nvidia.toml",
    "docker": "/etc/docker/daemon.json",
}


def answer(node: Node, arguments: Sequence[str]) -> Answer:
    """`cdi generate`, `cdi list`, `runtime configure`."""
    words = list(arguments)
    if words[:1] in (["--version"], ["-v"]):
        told = f"version {node.installed or 'unknown'} (simulated by clusterwright)"
        return Answer(f"NVIDIA Container Toolkit CLI {told}\n")
    options = _options(words)
    if words[:2] == ["cdi", "generate"]:
        return _generate(node, options.get("output", ""))
    if words[:2] == ["cdi", "list"]:
        names = _device_names(node)
        found = f'level=info msg="Found {len(names)} CDI devices"\n'
        return Answer("".join(f"nvidia.com/gpu={name}\n" for name in names), error=found)
    if words[:2] == ["runtime", "configure"]:
        return _configure(options)
    return Answer(error=f"the simulated nvidia-ctk does not know: {' '.join(words)}\n", status=1)


def _options(words: list[str]) -> dict[str, str]:
    found = {}
    for place, word in enumerate(words):
        if word.startswith("--"):
            name, joined, value = word[2:].partition("=")
            following = words[place + 1] if place + 1 < len(words) else ""
            found[name] = value if joined else "" if following.startswith("--") else following
    return found


def _device_names(node: Node) -> list[str]:
    """Every GPU by index and by UUID; a GPU in MIG mode by its devices, as `index:device`."""
    names: list[str] = []
    for index, gpu in enumerate(node.gpus):
        reading = read_gpu(node, gpu)
        if reading.mig_mode:
            names += [f"{index}:{number}" for number in range(len(reading.mig_devices))]
            names += [device.uuid for device in reading.mig_devices]
        else:
            names += [str(index), gpu.uuid]
    return [*names, "all"]


def _generate(node: Node, output: str) -> Answer:
    if node.loaded is None:
        return Answer(error="failed to initialize NVML: Driver Not Loaded\n", status=1)
    if node.loaded != node.library_of_driver:
        return Answer(error="failed to initialize NVML: Driver/library version mismatch\n", status=1)
    minors = {str(index): gpu.minor for index, gpu in enumerate(node.gpus)}
    minors |= {gpu.uuid: gpu.minor for gpu in node.gpus}
    devices = []
    for name in _device_names(node):
        owner = name.partition(":")[0]
        wanted = [gpu.minor for gpu in node.gpus] if name == "all" else [minors.get(owner, 0)]
        devices.append(
            {"name": name, "containerEdits": {"deviceNodes": [_device(f"nvidia{minor}") for minor in wanted]}}
        )
    common = [_device("nvidiactl"), _device("nvidia-uvm")]
    document = {
        "cdiVersion": "0.5.0",
        "kind": "nvidia.com/gpu",
        "devices": devices,
        "containerEdits": {
            "deviceNodes": common,
            "env": ["NVIDIA_VISIBLE_DEVICES=void"],
            "mounts": _mounts(),
        },
    }
    # CDI is YAML, and JSON is YAML: no library is needed to write it.
    text = json.dumps(document, indent=2) + "\n"
    if not output:
        return Answer(text)
    path = Path(output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return Answer(error='level=info msg="Generated CDI spec with version 0.5.0"\n')


def _device(name: str) -> dict[str, str]:
    return {"path": f"/dev/{name}"}


def _mounts() -> list[dict[str, object]]:
    """The simulators and what they read, so that `nvidia-smi` answers in a container too."""
    paths = (
        "/usr/bin/nvidia-smi",
        "/usr/lib/simulated-hardware",
        "/run/simulated-hardware",
        "/run/simulated-node",
    )
    return [
        # What is mounted below comes along: a user's own namespace may not leave it behind.
        {"hostPath": path, "containerPath": path, "options": ["ro", "nosuid", "nodev", "rbind", "rprivate"]}
        for path in paths
        if Path(path).exists()
    ]


def _configure(options: dict[str, str]) -> Answer:
    runtime = options.get("runtime", "docker")
    if runtime not in _RUNTIMES:
        return Answer(error=f"unrecognized runtime '{runtime}'\n", status=1)
    path = Path(options.get("config") or _RUNTIMES[runtime])
    path.parent.mkdir(parents=True, exist_ok=True)
    if runtime == "docker":
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        known.setdefault("runtimes", {})["nvidia"] = {"args": [], "path": "nvidia-container-runtime"}
        if "nvidia-set-as-default" in options:
            known["default-runtime"] = "nvidia"
        path.write_text(json.dumps(known, indent=4, sort_keys=True) + "\n", encoding="utf-8")
    elif runtime == "containerd":
        key = "plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia"
        lines = ["version = 3", f"[{key}]", "runtime_type = 'io.containerd.runc.v2'", f"[{key}.options]"]
        path.write_text(
            "\n".join([*lines, "BinaryName = '/usr/bin/nvidia-container-runtime'", ""]), encoding="utf-8"
        )
    else:
        lines = ["[crio.runtime.runtimes.nvidia]", "runtime_path = '/usr/bin/nvidia-container-runtime'", ""]
        path.write_text("\n".join(lines), encoding="utf-8")
    return Answer(error=f'level=info msg="Wrote updated config to {path}"\n')
