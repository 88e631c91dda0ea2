"""What spreadsheets and inventories call the columns that a file of machines has."""

from __future__ import annotations

import re
from collections.abc import Mapping

_CALLED = {
    "node": (
        "node nodename hostname host hosts server servername device devicename machine machinename "
        "system systemname computername instance rechnername rechner name fqdn dnsname"
    ),
    "mac": (
        "mac macaddress macaddr macadresse mac1 nic1mac bootmac pxemac provisioningmac nicmac hostmac "
        "nodemac primarymac lanmac eth0mac eno1mac hwaddr hwaddress hardwareaddress ethernetaddress "
        "physicaladdress"
    ),
    "address": (
        "address ip ipaddress ipadresse ipaddr ip4 ipv4 ipv4address nodeip hostip serverip primaryip "
        "primaryip4 primaryipv4 lanip pxeip osip"
    ),
    "bmc_address": (
        "bmc bmcip bmcaddress bmcipaddress ipmi ipmiip ipmiaddress ipmiipaddress idrac idracip "
        "idracaddress ilo iloip iloaddress xcc xccip oob oobip oobipaddress outofbandip redfish "
        "redfiship redfishaddress"
    ),
    "bmc_mac": "bmcmac bmcmacaddress ipmimac ipmimacaddress idracmac ilomac xccmac oobmac",
    "serial": (
        "serial serialnumber serialno serialnr sn servicetag seriennummer chassisserial systemserial "
        "serverserial deviceserial"
    ),
    "bmc_credentials": "bmccredentials",
    "bmc_certificate": "bmccertificate bmcfingerprint",
    "rack": "rack rackname cabinet schrank",
    "unit": "unit rackunit rackposition position u uposition ulocation startu startingu ru hoeheneinheit",
    "model": "model type devicetype servermodel producttype product productname hardware machinetype",
    "role": "role devicerole function purpose",
    "mgmt_only": "mgmtonly managementonly oobonly",
}
_COLUMNS: Mapping[str, tuple[str, int]] = {
    word: (column, rank) for column, words in _CALLED.items() for rank, word in enumerate(words.split())
}


def column(heading: str) -> tuple[str, int] | None:
    """The column that a heading means, and how sure that is: the lower the surer. None for others."""
    word = re.sub(r"[^a-z0-9]", "", heading.lower().replace("ö", "oe"))
    return _COLUMNS.get(word)
