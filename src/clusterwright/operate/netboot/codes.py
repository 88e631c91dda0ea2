"""What each code of this package means: `clusterwright explain CW8250`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW8250": Meaning(
        "A program that packs images is not installed",
        "An image for network boot is one file that machines run from memory; mksquashfs makes it.",
        "image build site.yaml, on a machine that never did it",
    ),
    "CW8251": Meaning(
        "An image of another processor",
        "Its software is installed here, so it is of this machine's own processor.",
        "image build site.yaml, with pools of aarch64, on x86_64",
    ),
    "CW8252": Meaning(
        "The image could not be made to boot",
        "Kernel, initramfs and login are made last; the finding has what the builder said.",
        "a package that the mirror does not have",
    ),
    "CW8253": Meaning(
        "An image that machines are to boot was not built",
        "Scripts of machines name an image by its digest, so it has to be on the controller before they do.",
        "up site.yaml, with image: built, and the lock was changed since",
    ),
    "CW8254": Meaning(
        "An image could not be brought to the controller",
        "What is there already is kept, and the next `up` goes on where this one ended.",
        "up site.yaml, while the controller's disk is full",
    ),
    "CW8255": Meaning(
        "A machine's card was not heard in the nodes' network",
        "What the controller's DHCP server wrote down for half an hour was read; this MAC asked for nothing.",
        "bootstrap site.yaml work1, and work1 is off or starts from its disk without asking",
    ),
    "CW8256": Meaning(
        "A machine took its address from somebody else",
        "It asked, the controller offered the address of the plan, and the machine did not ask for that.",
        "bootstrap site.yaml work1, and an office's router gives addresses there",
    ),
    "CW8257": Meaning(
        "A machine started from its disk",
        "Firmware says what it is when it asks for an address; this was asked by an operating system.",
        "bootstrap site.yaml work1, and its disk is before its network in the boot order",
    ),
    "CW8258": Meaning(
        "A machine began to boot over its network, and stopped",
        "Each step is written down by DHCP or HTTP on the controller; the finding has the last one.",
        "bootstrap site.yaml work1, with Secure Boot on",
    ),
    "CW8259": Meaning(
        "A machine runs, and does not answer",
        "It is still starting, refused its image because its SHA-256 is another, or its system fails.",
        "bootstrap site.yaml work1, a moment after it fetched the image",
    ),
}
