"""What each code of this package means: `clusterwright explain CW8116`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW8116": Meaning(
        "A list of machines cannot be read",
        "It is missing, too large, or not readable for who runs the command.",
        "inventory import absent.csv",
    ),
    "CW8117": Meaning(
        "A list of machines in another encoding",
        "Spreadsheets save Windows-1252 without a word. It is read as that; look at names with accents.",
        "inventory import racks.csv, saved by a spreadsheet for Windows",
    ),
    "CW8118": Meaning(
        "Not a list of machines",
        "At least two columns must have headings that are known, one of them a machine's name.",
        "inventory import prices.csv",
    ),
    "CW8119": Meaning(
        "Something that is not taken from a list",
        "Nothing gets lost in silence: columns that say nothing of a machine's identity are named.",
        "a column 'Asset tag'",
    ),
    "CW8120": Meaning(
        "A column that may hold passwords",
        "They are never taken: the file of machines is kept with the description, where many read it.",
        "a column 'iDRAC password'",
    ),
    "CW8121": Meaning(
        "A cell or lease that is not taken",
        "It is no address, MAC or serial number, or a lease that nobody holds.",
        "a MAC that a spreadsheet made 1.23E+11",
    ),
    "CW8122": Meaning(
        "A machine's name",
        "It is missing, cannot be a host's name, or was written as one.",
        "GPU001.hpc.example.org becomes gpu001",
    ),
    "CW8123": Meaning(
        "Two lists do not agree",
        "The one that was given first counts.",
        "a serial number in NetBox, and another one in a spreadsheet",
    ),
    "CW8124": Meaning(
        "Two machines with one MAC, address or serial number",
        "A row was copied, or a card moved from one machine to the other.",
        "the same MAC for gpu001 and gpu002",
    ),
    "CW8125": Meaning(
        "Something is missing",
        "Network boot needs the MAC, power control the BMC's address, a vendor's support the serial number.",
        "no MAC of three machines",
    ),
    "CW8126": Meaning(
        "A pool that a list does not tell whole",
        "Role, machine type and racks are taken where a list has them, and never made up.",
        "a model that the catalog does not have",
    ),
    "CW8127": Meaning(
        "Addresses of leases",
        "A lease ends. An address in the file of machines is its node's for good.",
        "inventory import dnsmasq.leases",
    ),
}
