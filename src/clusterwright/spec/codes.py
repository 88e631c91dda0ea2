"""What each code of this package means: `clusterwright explain CW1009`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Meaning:
    """Why a code exists, and an example of what it refuses."""

    title: str
    why: str
    example: str


CODES: Mapping[str, Meaning] = {
    "CW1001": Meaning(
        "The file cannot be read", "It is missing, a directory, or not yours to read.", "validate absent.yaml"
    ),
    "CW1002": Meaning(
        "The file is too large",
        "A description is at most 1 MiB; node sets keep even the largest cluster far below that.",
        "validate disk.img",
    ),
    "CW1003": Meaning(
        "The file is not plain text",
        "Descriptions are UTF-8. Control characters and line breaks inside a value would end up in "
        "configuration files.",
        'cluster: "a\\0b"',
    ),
    "CW1004": Meaning("The file is not YAML", "The parser cannot go on at this place.", "pools: {gpu: [}"),
    "CW1005": Meaning("A tab as indentation", "YAML indents with spaces only.", "pools:\n\tgpu: {}"),
    "CW1006": Meaning("A second document", "One file describes one cluster.", "cluster: a\n---\ncluster: b"),
    "CW1007": Meaning("Not a description", "The file is empty, or a list or a lone value.", "- cluster: a"),
    "CW1008": Meaning(
        "A key is given twice",
        "Most readers of YAML let the last one win in silence.",
        "cluster: a\ncluster: b",
    ),
    "CW1009": Meaning(
        "A value that readers of YAML take differently",
        "YAML 1.1 reads `no` as false, `010` as 8 and `22:30` as 1350; YAML 1.2 does not.",
        "admin: yes",
    ),
    "CW1010": Meaning("A tag", "Tags change what a value is; a description needs none.", "cluster: !!str a"),
    "CW1011": Meaning(
        "An alias that cannot be followed",
        "An alias stands for a value that is complete above it. Merge keys were never part of YAML 1.2.",
        "gpu: {<<: *base}",
    ),
    "CW1012": Meaning(
        "Too deep or too many values",
        "More than 20 levels or 200,000 values, aliases counted as often as they are used.",
        "[[[[[[[[[[[[[[[[[[[[[a]]]]]]]]]]]]]]]]]]]]]",
    ),
    "CW1013": Meaning("A key that is no plain word", "Keys are names.", "? [a, b]\n: c"),
    "CW1014": Meaning("More findings", "Only the first 200 are shown.", ""),
    "CW1101": Meaning(
        "An unknown key", "A misspelt key would be ignored in silence.", "pools: {gpu: {cuont: 2}}"
    ),
    "CW1102": Meaning("A key is missing", "The field has no default.", "pools: {gpu: {roles: compute}}"),
    "CW1103": Meaning("A value of the wrong type", "Text, number, list or mapping.", 'count: "2"'),
    "CW1104": Meaning("A number out of range", "The field has a least and a most.", "count: 0"),
    "CW1105": Meaning("Not one of the choices", "The field takes one of a few words.", "roles: headnode"),
    "CW1106": Meaning(
        "A text of the wrong form",
        "Names become host names, Slurm names and cloud resource names; paths and URLs become configuration.",
        "cluster: My_Cluster",
    ),
    "CW1107": Meaning("Not a quantity", "Sizes, durations and powers carry their unit.", "power_limit: 40"),
    "CW1108": Meaning("Not a network", "A network is written in CIDR form.", "network: 10.40.0.1/16"),
    "CW1109": Meaning("Not a set of node names", "Names as Slurm writes them.", "nodes: gpu[4-1]"),
    "CW1110": Meaning("Too long, or empty", "The field has a least or greatest length.", "roles: []"),
    "CW1120": Meaning(
        "Both `site` and `sites`", "One of the two says where machines are.", "site: …\nsites: …"
    ),
    "CW1121": Meaning("No site", "Machines have to be somewhere.", "cluster: a\npools: …"),
    "CW1122": Meaning(
        "A pool's site",
        "With several sites each pool names one of them; with one site none does.",
        "site: mars",
    ),
    "CW1123": Meaning(
        "Both `count` and `nodes`", "The names say how many there are.", "count: 2\nnodes: gpu[1-3]"
    ),
    "CW1124": Meaning("A hook's pool", "It must be one of `pools`.", "hooks: [{…, pools: gpus}]"),
    "CW1125": Meaning("A user's account", "It must be one of `accounts`.", "users: {ada: {…, account: x}}"),
    "CW1126": Meaning("The tree of accounts", "Parents exist, and nobody is below itself.", "a: {parent: a}"),
    "CW1127": Meaning(
        "A user's number or name", "Numbers differ, and root is the system's.", "uid: 2001 twice"
    ),
    "CW1128": Meaning(
        "Two default partitions", "Slurm takes the last in silence.", "a: {default: true} twice"
    ),
    "CW1129": Meaning(
        "A partition without nodes", "A partition needs a pool of compute nodes.", "partitions: x"
    ),
    "CW1130": Meaning("The default time", "It cannot be longer than the longest.", "default_time: 2 d"),
    "CW1131": Meaning("A fabric setting", "It belongs to another topology, or is missing.", "block_size: 18"),
    "CW1132": Meaning("An unknown template", "`clusterwright init --list` shows them.", "init --template x"),
    "CW1670": Meaning(
        "The file of machines cannot be read",
        "`machines` names a CSV file beside the description, in UTF-8.",
        "site: {provider: onprem, machines: absent.csv}",
    ),
    "CW1671": Meaning(
        "The heads of the file of machines",
        "Its first line names the columns; a misspelt one would be ignored in silence.",
        "node,mac,serail",
    ),
    "CW1672": Meaning(
        "A secret in the file of machines",
        "The file is kept with the description, where many read it. It names where a password is, at most.",
        "node,bmc_address,bmc_password",
    ),
    "CW1673": Meaning(
        "A cell of the file of machines",
        "MACs, addresses and names end up in the configuration of DHCP and of power control.",
        "gpu001,0a:1b:2c:3d:4e",
    ),
}
