"""Lines of slurm.conf that a description adds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from difflib import get_close_matches

from clusterwright.catalog.slurm import releases, settings
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline

_TABLES = "option tables of Slurm 22.05.8, 24.11.5 and 26.05.5 (catalog/data/slurm_settings.csv)"


def _field(key: str) -> str:
    return f"scheduler.options.{key}"


@rule(
    "CW1241",
    "An option that the plan decides",
    source="the plan knows nodes, names, paths, ports and trust; a second opinion would break them",
    example="scheduler: {options: {ClusterName: other}}",
)
def option_owned(outline: Outline) -> Iterator[Problem]:
    """Nodes, partitions, paths, ports, plugins and trust follow from the rest of the description."""
    for key in outline.spec.scheduler.options:
        setting = settings().get(key.lower())
        if setting is not None and setting.owned:
            remedy = "Remove it; the description's own fields decide it"
            yield Problem(_field(key), f"'{setting.name}' is not for a description to set", remedy)


@rule(
    "CW1242",
    "An option that Slurm does not know",
    source=_TABLES,
    example="scheduler: {options: {KillWat: 60}}",
)
def option_unknown(outline: Outline) -> Iterator[Problem]:
    """slurmctld stops at a key that it does not know."""
    names = {key: setting.name for key, setting in settings().items()}
    for key in outline.spec.scheduler.options:
        if key.lower() not in names:
            near = get_close_matches(key.lower(), names, n=1)
            remedy = f"Did you mean '{names[near[0]]}'?" if near else "Remove it"
            yield Problem(_field(key), f"Slurm has no setting '{key}'", remedy)


@rule(
    "CW1243",
    "An option that is gone from this release",
    source=_TABLES,
    example="software: {distribution: debian-13}, scheduler: {options: {FastSchedule: 1}}",
)
def option_defunct(outline: Outline) -> Iterator[Problem]:
    """Slurm calls such a key defunct and ignores it, or stops: what was wished does not happen."""
    release = outline.slurm_release
    for key in outline.spec.scheduler.options if release else ():
        setting = settings().get(key.lower())
        if release and setting and not setting.owned and setting.last and setting.last < release:
            remedy = f"Use '{setting.instead}'" if setting.instead else "Remove it"
            yield Problem(_field(key), f"Slurm {release} has no '{setting.name}' any more", remedy)
        elif release and setting and not setting.owned and setting.first == "none":
            remedy = f"Use '{setting.instead}'" if setting.instead else "Remove it"
            yield Problem(_field(key), f"Slurm has no '{setting.name}' any more", remedy)


@rule(
    "CW1244",
    "An option that this release does not have yet",
    source=_TABLES,
    example="scheduler: {release: '24.11', options: {PrologTimeout: 60}}",
)
def option_too_new(outline: Outline) -> Iterator[Problem]:
    """slurmctld stops at a key that came with a later release."""
    release = outline.slurm_release
    for key in outline.spec.scheduler.options if release else ():
        setting = settings().get(key.lower())
        if release and setting and not setting.owned and release < setting.first < "none":
            what = f"'{setting.name}' is not known before Slurm {setting.first}, and this is {release}"
            yield Problem(_field(key), what, "Remove it, or take a later release")


@rule(
    "CW1245",
    "An option twice",
    source="slurm.conf(5): keys do not mind the case",
    example="scheduler: {options: {KillWait: 60, killwait: 30}}",
)
def option_twice(outline: Outline) -> Iterator[Problem]:
    """Slurm would take the last one and log an error."""
    spellings: dict[str, list[str]] = defaultdict(list)
    for key in outline.spec.scheduler.options:
        spellings[key.lower()].append(key)
    for first, *others in spellings.values():
        for key in others:
            yield Problem(_field(key), f"'{key}' and '{first}' are the same setting", "Keep one")


@rule(
    "CW1246",
    "A value that does not stay on its line",
    source="slurm.conf(5): a line ends the setting, and # begins a comment",
    example="scheduler: {options: {MailProg: '/bin/mail # ours'}}",
)
def option_value_breaks_line(outline: Outline) -> Iterator[Problem]:
    """A line break would begin another setting, and everything after '#' would be lost."""
    for key, value in outline.spec.scheduler.options.items():
        text = str(value)
        if "#" in text or not text.strip() or not text.isprintable():
            what = f"the value of '{key}' is empty, or has a line break, a control character or '#'"
            yield Problem(_field(key), what, "Write the value on one line")


@rule(
    "CW1247",
    "REST without accounting",
    source="slurm.schedmd.com/rest.html: the slurmdb half of the API answers from slurmdbd",
    example="scheduler: {rest: true, accounting: false}",
    severity=Severity.WARNING,
)
def rest_without_accounting(outline: Outline) -> Iterator[Problem]:
    """Half of the REST API asks the accounting database and would only give errors."""
    if outline.spec.scheduler.rest and not outline.spec.scheduler.accounting:
        yield Problem("scheduler.rest", "half of the REST API needs accounting", "Switch accounting on")


@rule(
    "CW1248",
    "A Slurm release that its makers no longer mend",
    source="SchedMD's release policy (catalog/data/slurm_releases.csv, with the date of each row)",
    example="software: {slurm_repository: …}, scheduler: {release: '23.11'}",
    severity=Severity.WARNING,
)
def release_out_of_support(outline: Outline) -> Iterator[Problem]:
    """Security holes stay open. A distribution mends its own packages; a repository of yours is yours."""
    row = releases().get(outline.slurm_release or "")
    if row is not None and outline.slurm_source == "repository" and row.end_of_support < row.date:
        what = f"Slurm {row.release} has had no fixes since {row.end_of_support}"
        yield Problem("scheduler.release", what, f"Take {list(releases())[-1]}")
