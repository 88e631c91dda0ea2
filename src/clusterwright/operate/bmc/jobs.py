"""Whether Slurm has jobs on machines that are about to be switched off."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from clusterwright.finding import Finding, Refused, Severity, Where
from clusterwright.operate.disturb import Running, loss, running
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.provider import machines_of_cluster
from clusterwright.spec.nodeset import fold


def refuse_jobs(cluster: str, nodes: Collection[str]) -> list[Finding]:
    """Raises Refused with a finding per node that has jobs; a note where Slurm is not there to ask."""
    known = _running(cluster, nodes)
    remedy = f"Drain it first with `clusterwright node drain {cluster} %s`, or use --disturb"
    findings = [loss(node, jobs, known.answers, remedy) for node, jobs in known.jobs.items()]
    if findings:
        together = fold(finding.where.path for finding in findings)
        raise Refused(findings if len(findings) <= 8 else [*findings[:8], _more(cluster, together)])
    if known.answers or not nodes:
        return []
    what = "no Slurm of this cluster's answers, and no node that does tells of jobs"
    return [Finding("CW8206", Where(path=cluster), what, "See that they are idle", Severity.NOTE)]


def _running(cluster: str, nodes: Collection[str]) -> Running:
    """Nothing is known before the first `up`, and where a part of the cluster is on a cloud."""
    handoff = ClusterHome.of(cluster).handoff()
    if handoff is not None:
        with suppress(Refused):
            return running(handoff, machines_of_cluster(handoff).targets(handoff), nodes)
    return Running(False, {})


def _more(cluster: str, nodes: str) -> Finding:
    what = f"jobs run on {nodes}"
    return Finding("CW8006", Where(path=cluster), what, "Drain them first, or use --disturb")
