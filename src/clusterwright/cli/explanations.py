"""What each code means, from the package that it belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module

from clusterwright.finding import Where, refuse


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a code exists. `source`: where its fact comes from, if it is one of the world's."""

    title: str
    why: str
    example: str = ""
    source: str = ""


_LAYERS = ("spec", "plan", "handoff", "render", "accept", "providers", "operate")
_PARTS = (
    "operate.archives",
    "operate.backup",
    "operate.bmc",
    "operate.inventory",
    "operate.lldp",
    "operate.offline",
    "operate.own",
    "operate.netboot",
    "operate.provision",
    "operate.pull",
    "operate.stack",
)

OWN = {
    "CW9002": Explanation("The file is there already", "`init` never overwrites what somebody wrote."),
    "CW9003": Explanation("The file cannot be written", "Its folder is missing, full or not yours."),
    "CW9004": Explanation(
        "Not a pool and a number", "`--nodes` says how large a pool is in a rehearsal.", "--nodes gpu=2"
    ),
    "CW9005": Explanation(
        "Only a rehearsal can be scaled",
        "The size of a real cluster is what its description says, so that nobody has to remember an option.",
        "up cluster.yaml --nodes gpu=2",
    ),
    "CW9007": Explanation("The document cannot be read", "It is missing, not text, or not yours to read."),
    "CW9008": Explanation(
        "No such machine type", "The catalog has no row of this name.", "machines p5.48xlarg"
    ),
    "CW9009": Explanation(
        "A GPU that no machine type has", "The word stands in no name of a GPU.", "machines --gpu H101"
    ),
    "CW9010": Explanation(
        "A region of which no row tells",
        "Neither a price nor a list of zones names it. It may exist all the same.",
        "machines --region us-east-9",
    ),
    "CW9011": Explanation(
        "Not a way to roll",
        "`--batch`, `--wait` and `--failures` say how `--roll` goes about it, and are of no use without.",
        "up lab --roll --batch 4 --wait '2 h'",
    ),
    "CW9012": Explanation(
        "A question without anybody to answer",
        "What takes away machines and files asks first. A pipeline says yes beforehand.",
        "destroy aws-p5 < /dev/null",
    ),
    "CW9013": Explanation(
        "An option that is for other clusters",
        "What an option would do must be there to be done: labs are converged from here, clouds are not.",
        "up aws-p5 --full",
    ),
    "CW9020": Explanation(
        "No such device on the fabric",
        "Names of switches follow from the design, those of nodes from the pools.",
        "cabling racks.yaml --device gpu-leaf-99",
    ),
    "CW9021": Explanation(
        "Lossless settings of InfiniBand",
        "Its links have credits, so that nothing is sent that finds no room. Ethernet has to be told.",
        "cabling rails.yaml --lossless -",
    ),
    "CW9006": Explanation("There is no such code", "Codes are CW and four digits.", "explain CW9999"),
}


def explanation(code: str) -> Explanation:
    """Raises Refused for a code that no package knows."""
    known = explanations()
    if code in known:
        return known[code]
    near = get_close_matches(code, known, n=1)
    remedy = f"Did you mean {near[0]}?" if near else "Codes stand in front of findings"
    raise refuse("CW9006", Where(path=code), f"no finding has the code {code}", remedy)


def explanations() -> dict[str, Explanation]:
    """Every code there is: a rule explains itself, and a `codes.py` beside it those of the others."""
    from clusterwright.checks.explain import explanations as of_checks

    rules = of_checks()
    found = {code: Explanation(row.title, row.text, row.example, row.source) for code, row in rules.items()}
    for package in _LAYERS + _PARTS:
        rows = import_module(f"clusterwright.{package}.codes").CODES
        found |= {code: Explanation(row.title, row.why, row.example) for code, row in rows.items()}
    return dict(sorted((found | OWN).items()))
