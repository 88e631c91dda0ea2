"""Module `nccl_tests`, run as Ansible runs it: real tar and make, a compiler and an MPI of a few lines."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

MAKEFILE = """\
build/all_reduce_perf: all_reduce.cu
\tmkdir -p build
\t$(CUDA_HOME)/bin/nvcc $(NVCC_GENCODE) -I$(MPI_HOME)/include -o $@ $<
\ttouch build/all_reduce.o
"""
NVCC = """\
#!/bin/sh
[ "$1" != --version ] || {{ echo "Cuda compilation tools, release {release}, V1"; exit; }}
echo "$LD_RUN_PATH $*" >> {folder}/compiled
test -e {folder}/broken && {{ echo "nvcc fatal : broken" >&2; exit 2; }}
test -e "$(echo "$*" | sed 's/.*-I\\([^ ]*\\).*/\\1/')/mpi.h" || exit 3
while [ "$1" != -o ]; do shift; done
echo '#!/bin/sh' > "$2"; chmod +x "$2"
"""
MPICC = """\
#!/bin/sh
case $1 in
--showme:incdirs) echo {folder}/nowhere {folder}/headers;;
--showme:libdirs) echo {folder}/libraries;;
esac
"""


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@dataclass
class Node:
    folder: Path
    module: Any
    read: Callable[[], str]

    def cuda(self, release: str) -> None:
        self.program("cuda/bin/nvcc", NVCC.format(release=release, folder=self.folder))

    def program(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def source(self, version: str) -> Path:
        file = self.folder / f"nccl-tests-{version}.tar.gz"
        with tarfile.open(file, "w:gz") as tar:
            for name, text in (("Makefile", MAKEFILE), ("all_reduce.cu", "")):
                member = tarfile.TarInfo(f"nccl-tests-{version}/{name}")
                member.size = len(text)
                tar.addfile(member, io.BytesIO(text.encode()))
        return file

    def build(self, *capabilities: str, version: str = "2.17.6", check: bool = False) -> dict[str, Any]:
        given = {
            "archive": str(self.source(version)),
            "version": version,
            "capabilities": list(capabilities),
            "folder": str(self.folder / "opt"),
            "cuda": str(self.folder / "cuda"),
            "_ansible_check_mode": check,
        }
        with patch_module_args(given), pytest.raises(SystemExit):
            self.module.main()
        answer: dict[str, Any] = json.loads(self.read())
        return answer

    @property
    def there(self) -> list[str]:
        return names(self.folder / "opt")

    @property
    def compiled(self) -> str:
        return (self.folder / "compiled").read_text()


@pytest.fixture
def node(
    tmp_path: Path,
    plugin: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Node:
    module = plugin("modules.nccl_tests")
    monkeypatch.setattr(module, "COMPILERS", (str(tmp_path / "mpi"),))
    made = Node(tmp_path, module, lambda: capsys.readouterr().out)
    made.cuda("13.0")
    made.program("mpi/mpicc", MPICC.format(folder=tmp_path))
    for path in ("headers/mpi.h", "libraries/libmpi.so"):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).touch()
    return made


def test_it_builds_once_for_the_gpus_of_the_pool(node: Node) -> None:
    assert node.build("9.0")["built"] == "2.17.6-cuda13-sm_90"
    assert "-gencode=arch=compute_90,code=sm_90" in node.compiled
    assert node.compiled.startswith(f"{node.folder}/libraries:{node.folder}/cuda/lib64 ")
    assert names(node.folder / "opt" / "build") == ["all_reduce_perf", "built.json"]
    again = node.build("9.0")
    assert (again["changed"], again["built"]) == (False, "")
    assert len(node.compiled.splitlines()) == 1


def test_what_an_image_built_for_more_gpus_serves(node: Node) -> None:
    node.build("8.0", "9.0")
    assert not node.build("9.0")["changed"]
    assert node.build("10.0")["built"] == "2.17.6-cuda13-sm_100"
    assert node.build()["built"] == "2.17.6-cuda13", "whatever the source chooses by itself"
    assert "-gencode" not in node.compiled.splitlines()[-1]


def test_another_release_or_another_cuda_builds_anew_and_leaves_nothing_old(node: Node) -> None:
    node.build("9.0", version="2.16.3")
    assert node.build("9.0")["changed"]
    node.cuda("13.3")
    assert not node.build("9.0")["changed"], "a minor version of CUDA runs what another built"
    node.cuda("14.0")
    assert node.build("9.0")["built"] == "2.17.6-cuda14-sm_90"
    assert node.there == ["2.17.6-cuda14-sm_90", "build"]


def test_a_check_builds_nothing_and_says_what_it_would(node: Node) -> None:
    node.build("9.0", version="2.16.3")
    said = node.build("9.0", check=True)
    assert said["changed"]
    assert said["diff"] == {"before": "2.16.3-cuda13-sm_90\n", "after": "2.17.6-cuda13-sm_90\n"}
    assert len(node.compiled.splitlines()) == 1
    (node.folder / "cuda/bin/nvcc").unlink()
    assert node.build("9.0", check=True)["changed"], "a check comes before the toolkit is there"


def test_what_fails_or_is_killed_leaves_what_was_there(node: Node) -> None:
    node.build("9.0", version="2.16.3")
    (node.folder / "broken").touch()
    said = node.build("9.0")
    assert said["failed"] and "nvcc fatal : broken" in said["msg"]
    assert (node.folder / "opt" / "build").readlink() == Path("2.16.3-cuda13-sm_90")
    (node.folder / "broken").unlink()
    (node.folder / "opt" / "2.17.6-cuda13-sm_90").mkdir()
    (node.folder / "opt" / ".building-link").symlink_to("nowhere")
    assert node.build("9.0")["changed"]
    assert node.there == ["2.17.6-cuda13-sm_90", "build"]


def test_programs_that_are_gone_are_built_again(node: Node) -> None:
    node.build("9.0")
    (node.folder / "opt" / "build" / "all_reduce_perf").unlink()
    assert node.build("9.0")["changed"]


def test_what_an_image_came_with_stays_aside(node: Node) -> None:
    node.program("opt/build/all_reduce_perf", "#!/bin/sh\n")
    assert node.build("9.0")["changed"]
    assert node.there == ["2.17.6-cuda13-sm_90", "build", "build-found"]


def test_without_mpi_nothing_is_built(node: Node) -> None:
    (node.folder / "mpi/mpicc").unlink()
    said = node.build("9.0")
    assert said["failed"] and "MPI's development package" in said["msg"]
