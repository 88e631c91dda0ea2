"""What each code of this package means: `clusterwright explain CW8190`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW8190": Meaning(
        "No BMC of a machine is described",
        "Power and console go through it: `bmc_address` in the file of machines says where it is.",
        "bmc status hall.yaml gpu003, where the file of machines has no address for its BMC",
    ),
    "CW8191": Meaning(
        "The login of a BMC cannot be had",
        "`bmc_credentials` names a file of the operator's alone, or a variable, with `USER:PASSWORD`.",
        "bmc status hall.yaml, without BMC_LOGIN in the environment",
    ),
    "CW8192": Meaning(
        "No BMC answers",
        "It has no power or no cable, has another address, or its network is not reached from here.",
        "bmc status hall.yaml, with one BMC unplugged",
    ),
    "CW8193": Meaning(
        "A BMC does not let this login in",
        "Each is tried once, so that no account is locked, and never by another protocol afterwards.",
        "bmc status hall.yaml, where one BMC has another password",
    ),
    "CW8194": Meaning(
        "Nobody vouches for a BMC's certificate",
        "The password would go to whoever answers. The finding has the fingerprint of what is shown.",
        "bmc status hall.yaml, with certificates that the BMCs signed themselves",
    ),
    "CW8195": Meaning(
        "A BMC shows another certificate than described",
        "It was exchanged or reset, or somebody stands between. No password was sent.",
        "bmc status hall.yaml, after the mainboard of gpu003 was exchanged",
    ),
    "CW8196": Meaning(
        "What answers is no BMC that is understood",
        "A web server, a switch, or firmware that is too old for Redfish or for TLS 1.2.",
        "bmc status hall.yaml, with the address of a switch for gpu003's BMC",
    ),
    "CW8197": Meaning(
        "A BMC cannot do what it is asked for",
        "It says itself what it can; vendors leave out a part of what the standards have.",
        "bmc power off hall.yaml gpu003, where the BMC knows no graceful shutdown",
    ),
    "CW8198": Meaning(
        "Another machine than described",
        "The serial number that the BMC tells is not the one in the file of machines: nothing is switched.",
        "bmc power off hall.yaml gpu003, where two cables were swapped",
    ),
    "CW8199": Meaning(
        "A BMC answers with an error",
        "Its own words are in the finding.",
        "bmc power on hall.yaml gpu003, with a failed power supply",
    ),
    "CW8200": Meaning(
        "The library that speaks Redfish is not installed",
        "It is needed for nothing else. With `protocols: [ipmi]` ipmitool does without.",
        "bmc status hall.yaml, after `pip install clusterwright`",
    ),
    "CW8201": Meaning(
        "A machine that its BMC calls ill",
        "Its own sum of sensors, fans, supplies and memory. The worst of them is named.",
        "bmc status hall.yaml, with a fan that stands still",
    ),
    "CW8202": Meaning(
        "A system does not end",
        "It was asked to shut down and is still on: nobody pulls its plug unless --force says so.",
        "bmc power off hall.yaml gpu003, where a process does not end",
    ),
    "CW8203": Meaning(
        "A machine did not come to its power state",
        "The BMC took the order, and says after all this time that it is not so.",
        "bmc power on hall.yaml gpu003, with a failed mainboard",
    ),
    "CW8204": Meaning(
        "Addresses that cannot be swept",
        "A sweep asks each of a few thousand addresses at most, in a network or a file with one a line.",
        "inventory import redfish://10.0.0.0/8",
    ),
    "CW8205": Meaning(
        "A sweep that found no BMC",
        "Of all addresses none let us in. The other findings say what each that answered said.",
        "inventory import redfish://10.71.0.0/24, from outside that network",
    ),
    "CW8206": Meaning(
        "Nobody was asked whether jobs run there",
        "This cluster has no Slurm that answers, so its nodes count as idle.",
        "bmc power off hall.yaml gpu003, before the first `up`",
    ),
    "CW8207": Meaning(
        "A machine without a console that is reached from here",
        "Serial over LAN of IPMI, or SSH where Redfish names it, has to be on in the BMC.",
        "bmc console hall.yaml gpu003, with IPMI over LAN switched off",
    ),
    "CW8208": Meaning(
        "GPUs that a BMC tells of",
        "Many BMCs tell of none: that says nothing of the machine.",
        "inventory import redfish://10.71.0.0/24",
    ),
    "CW8209": Meaning(
        "A BMC says another boot device than it was told",
        "Some take an order for good as one for a single boot, some show it only after it.",
        "bmc boot network hall.yaml gpu003",
    ),
}
