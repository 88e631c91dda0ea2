#!/usr/bin/python
# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
module: nccl_tests
short_description: Build NVIDIA's programs that measure NCCL, once
version_added: "0.1.0"
description:
  - Builds them with this node's CUDA, NCCL and MPI, for some compute capabilities only, unless just that is
    there.
  - What is built lies in a folder named after its release, CUDA and GPUs. A link is turned to it when it is
    whole, so a killed run leaves what was there, and programs that run keep theirs.
author: The clusterwright authors
attributes:
  check_mode:
    support: full
    description: Changes nothing and tells whether it would build.
  diff_mode:
    support: full
    description: Shows what is there and what would be.
options:
  archive:
    description: The source, a tar archive on this node that was verified.
    type: path
    required: true
  version:
    description: Its release.
    type: str
    required: true
  capabilities:
    description: Compute capabilities of the GPUs; if empty, those that the source chooses by itself.
    type: list
    elements: str
    default: []
  folder:
    description: Where the programs go, into C(build).
    type: path
    default: /opt/nccl-tests
  cuda:
    description: The toolkit.
    type: path
    default: /usr/local/cuda
"""

EXAMPLES = r"""
- name: For H100
  clusterwright.cluster.nccl_tests:
    archive: /var/lib/clusterwright/packages/nccl-tests-2.17.6.tar.gz
    version: 2.17.6
    capabilities: ["9.0"]
"""

RETURN = r"""
built:
  description: What was built, or would be; empty where all of it was there.
  type: str
  returned: always
  sample: "2.17.6-cuda13-sm_90"
"""

import glob
import json
import os
import re
import shutil

from ansible.module_utils.basic import AnsibleModule

LINK = "build"
STAMP = "built.json"
BUILDING = ".building"
NEEDED = "all_reduce_perf"
COMPILERS = ("/usr/bin", "/usr/lib64/openmpi/bin", "/opt/amazon/openmpi/bin")
MOST_JOBS = 16
LINES = 20


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "archive": {"type": "path", "required": True},
            "version": {"type": "str", "required": True},
            "capabilities": {"type": "list", "elements": "str", "default": []},
            "folder": {"type": "path", "default": "/opt/nccl-tests"},
            "cuda": {"type": "path", "default": "/usr/local/cuda"},
        },
        supports_check_mode=True,
    )
    wanted = {
        "version": module.params["version"],
        "cuda": cuda_major(module),
        "capabilities": sorted(module.params["capabilities"]),
    }
    folder = module.params["folder"]
    there = stamp(folder)
    if serves(there, wanted):
        module.exit_json(changed=False, built="")
    name = named(wanted)
    if not module.check_mode:
        build(module, folder, name, wanted)
    diff = {"before": line(there and named(there)), "after": line(name)}
    module.exit_json(changed=True, built=name, diff=diff)


def cuda_major(module: AnsibleModule) -> str:
    """Empty where the toolkit is not there yet, which only a check may find."""
    compiler = os.path.join(module.params["cuda"], "bin", "nvcc")
    said = module.run_command([compiler, "--version"])[1] if os.path.exists(compiler) else ""
    found = re.search(r"release (\d+)", said)
    if not found and not module.check_mode:
        module.fail_json(msg=f"{compiler} does not say its release: is CUDA's toolkit installed?")
    return found[1] if found else ""


def stamp(folder: str) -> dict:
    """What the programs that are there were built of; nothing where they are not whole."""
    try:
        with open(os.path.join(folder, LINK, STAMP), encoding="utf-8") as stream:
            found = json.load(stream)
    except (OSError, ValueError):
        return {}
    return found if os.access(os.path.join(folder, LINK, NEEDED), os.X_OK) else {}


def serves(there: dict, wanted: dict) -> bool:
    """An image may have been built for more GPUs than this node has."""
    if any(there.get(name) != wanted[name] for name in ("version", "cuda")):
        return False
    had, needs = set(there.get("capabilities", [])), set(wanted["capabilities"])
    return had == needs or bool(needs and needs <= had)


def named(wanted: dict) -> str:
    gpus = [f"sm_{one.replace('.', '')}" for one in wanted["capabilities"]]
    return "-".join([wanted["version"], f"cuda{wanted['cuda']}", *gpus])


def build(module: AnsibleModule, folder: str, name: str, wanted: dict) -> None:
    """Beside what is there, and then in its place."""
    work = os.path.join(folder, BUILDING)
    shutil.rmtree(work, ignore_errors=True)
    source, made = os.path.join(work, "source"), os.path.join(work, "made")
    os.makedirs(source)
    os.mkdir(made)
    unpack = ["tar", "--extract", "--gzip", "--strip-components=1", "--no-same-owner", "--directory", source]
    module.run_command([*unpack, "--file", module.params["archive"]], check_rc=True)
    compile_(module, work, source, wanted["capabilities"])
    programs = glob.glob(os.path.join(glob.escape(source), "build", "*_perf"))
    if NEEDED not in map(os.path.basename, programs):
        module.fail_json(msg=f"{module.params['archive']} was built and has no {NEEDED}")
    for program in programs:
        shutil.move(program, made)
    with open(os.path.join(made, STAMP), "w", encoding="utf-8") as stream:
        json.dump(wanted, stream, indent=1, sort_keys=True)
    turn(folder, made, name)
    shutil.rmtree(work)


def compile_(module: AnsibleModule, work: str, source: str, capabilities: list) -> None:
    home, libraries = mpi(module, work)
    toolkit = module.params["cuda"]
    words = ["MPI=1", f"MPI_HOME={home}", f"CUDA_HOME={toolkit}"]
    if capabilities:
        numbers = [one.replace(".", "") for one in capabilities]
        gpus = " ".join(f"-gencode=arch=compute_{one},code=sm_{one}" for one in numbers)
        words.append(f"NVCC_GENCODE={gpus}")
    surroundings = {
        "LC_ALL": "C.UTF-8",
        "LD_RUN_PATH": f"{libraries}:{toolkit}/lib64",
        # Open MPI 4 has bindings of C++, which are in a library that the source does not link (mpi.h).
        "NVCC_APPEND_FLAGS": "-DOMPI_SKIP_MPICXX",
    }
    jobs = f"--jobs={min(os.cpu_count() or 1, MOST_JOBS)}"
    done, out, error = module.run_command(["make", jobs, *words], cwd=source, environ_update=surroundings)
    if done:
        said = "\n".join((out + error).splitlines()[-LINES:])
        module.fail_json(msg=f"{module.params['archive']} cannot be built here:\n{said}", rc=done)


def mpi(module: AnsibleModule, work: str) -> tuple:
    """A home as the source wants one, whatever a distribution has where; and the folder of the libraries."""
    found = shutil.which("mpicc", path=os.pathsep.join(COMPILERS))
    if found is None:
        module.fail_json(msg=f"no mpicc in {' '.join(COMPILERS)}: is MPI's development package installed?")
    home = os.path.join(work, "mpi")
    os.mkdir(home)
    places = {}
    for name, word, file in (("include", "incdirs", "mpi.h"), ("lib", "libdirs", "libmpi.so")):
        said = module.run_command([found, f"--showme:{word}"], check_rc=True)[1].split()
        places[name] = next((one for one in said if os.path.exists(os.path.join(one, file))), None)
        if places[name] is None:
            module.fail_json(msg=f"{found} --showme:{word} names no folder with {file}: {' '.join(said)}")
        os.symlink(places[name], os.path.join(home, name))
    return home, os.path.realpath(places["lib"])


def turn(folder: str, made: str, name: str) -> None:
    """From here on it is this one; earlier ones go."""
    place, link = os.path.join(folder, name), os.path.join(folder, LINK)
    shutil.rmtree(place, ignore_errors=True)
    os.rename(made, place)
    new = os.path.join(folder, f"{BUILDING}-link")
    if os.path.lexists(new):
        os.unlink(new)
    os.symlink(name, new)
    if os.path.isdir(link) and not os.path.islink(link):  # of an image that came with its own
        os.rename(link, os.path.join(folder, f"{LINK}-found"))
    os.rename(new, link)
    for other in os.listdir(folder):
        path = os.path.join(folder, other)
        if re.match(r"\d.*-cuda", other) and other != name and os.path.isdir(path):
            shutil.rmtree(path)


def line(text: str) -> str:
    return f"{text}\n" if text else ""


if __name__ == "__main__":
    main()
