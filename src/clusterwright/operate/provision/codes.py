"""What each code of this package means: `clusterwright explain CW8300`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW8300": Meaning(
        "A machine that starts from its disk cannot be provisioned",
        "What boots over the network is the `image` of its pool; without one there is nothing to start.",
        "provision site.yaml gpu1, whose pool has no `image`",
    ),
    "CW8301": Meaning(
        "The controller does not serve network boot",
        "Machines would ask for an address and hear nobody. None was switched.",
        "provision site.yaml, before `up` brought DHCP and HTTP to the controller",
    ),
    "CW8302": Meaning(
        "The controller would have a machine start something else",
        "Its script or its image there is missing, or of an earlier description. None was switched.",
        "provision site.yaml, after the lock was changed and before `up`",
    ),
    "CW8303": Meaning(
        "A machine did not come in time",
        "It was started, no SSH server answers, and its controller cannot say how far it came.",
        "provision site.yaml --timeout '20 min', beside another DHCP server",
    ),
    "CW8304": Meaning(
        "Host keys that are made at each boot, and nobody takes",
        "A machine that runs an image has a new one each time, so no file can vouch for it beforehand.",
        "provision site.yaml, with `image: built` and without --accept-new",
    ),
    "CW8310": Meaning(
        "A disk with something on it that is not clusterwright's",
        "It is overwritten only where somebody says so; the machine waits, and changed nothing.",
        "provision site.yaml gpu1, whose disk came with a system of its vendor's",
    ),
    "CW8311": Meaning(
        "A disk with another image",
        "What is on it is replaced only where somebody says so; the machine waits, and changed nothing.",
        "provision site.yaml gpu1, which is off, after the lock was changed",
    ),
    "CW8312": Meaning(
        "The disk that is to be written is not there",
        "It was looked for during a minute, under the name that `install_to` has.",
        "install_to: /dev/disk/by-path/pci-0000:01:00.0-nvme-1, and the disk is in another slot",
    ),
    "CW8313": Meaning(
        "A machine with a disk to write that starts by BIOS",
        "The boot loader that disks get, systemd-boot, is one of UEFI.",
        "provision site.yaml gpu1, with `legacy boot` in its firmware",
    ),
    "CW8314": Meaning(
        "A disk that could not be written, or not be used",
        "The machine says on its console which step failed. The next start begins with the disk anew.",
        "provision site.yaml gpu1, whose disk is smaller than the image",
    ),
    "CW8315": Meaning(
        "The controller could not be told to have a disk written",
        "Which machine is to write its disk stands in a file there; without it, it starts from its disk.",
        "provision site.yaml, while the controller's disk is full",
    ),
}
