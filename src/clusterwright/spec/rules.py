"""What fields of a description ask of one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from clusterwright.finding import Finding
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.document import Document, Path
from clusterwright.spec.nodeset import MAX_NODES, expand, size

Break = tuple[str, Path, str, str]
"""Code, place, what is wrong, what to do."""


def broken(spec: ClusterSpec, document: Document) -> list[Finding]:
    """Every rule that a description breaks although each of its fields is right."""
    return [
        Finding(code, document.where(path), what, remedy)
        for rule in _RULES
        for code, path, what, remedy in rule(spec)
    ]


def _one_way_to_name_sites(spec: ClusterSpec) -> Iterator[Break]:
    if spec.site and spec.sites:
        yield "CW1120", ("sites",), "both 'site' and 'sites' are given", "Keep 'sites', or 'site' alone"
    elif not spec.site and not spec.sites:
        yield (
            "CW1121",
            (),
            "the description says nowhere where its machines are",
            "Add `site: {provider: lab}`",
        )


def _pools_know_their_site(spec: ClusterSpec) -> Iterator[Break]:
    known = ", ".join(spec.sites)
    for name, pool in spec.pools.items():
        if pool.site and spec.site and not spec.sites:
            what = f"pool '{name}' names the site '{pool.site}', and the cluster has only one"
            yield "CW1122", ("pools", name, "site"), what, "Remove it, or describe `sites`"
        elif pool.site and spec.sites and pool.site not in spec.sites:
            what = f"pool '{name}' is on the site '{pool.site}', which does not exist"
            yield "CW1122", ("pools", name, "site"), what, f"Name one of: {known}"
        elif not pool.site and len(spec.sites) > 1:
            what = f"pool '{name}' does not say on which site it is"
            yield "CW1122", ("pools", name), what, f"Add `site:`, one of: {known}"


def _count_or_nodes(spec: ClusterSpec) -> Iterator[Break]:
    for name, pool in spec.pools.items():
        if pool.count is not None and pool.nodes is not None:
            what = f"pool '{name}' has both 'count' and 'nodes'"
            yield "CW1123", ("pools", name, "count"), what, "Keep one: the names say how many there are"


def _node_sets_name_each_node_once(spec: ClusterSpec) -> Iterator[Break]:
    """Told for as many sets as one cluster can hold: names cost time and memory."""
    total = 0
    for name, pool in spec.pools.items():
        if pool.nodes is None:
            continue
        path: Path = ("pools", name, "nodes")
        total += size(pool.nodes)
        if total > MAX_NODES:
            return  # CW1202 says so
        try:
            expand(pool.nodes)
        except ValueError as error:
            yield "CW1109", path, f"'nodes' is no set of nodes: {error}", "Name each node once"


def _hooks_name_pools(spec: ClusterSpec) -> Iterator[Break]:
    for index, hook in enumerate(spec.hooks):
        for position, pool in enumerate(hook.pools):
            if pool not in spec.pools:
                what = f"the hook names the pool '{pool}', which does not exist"
                known = ", ".join(spec.pools)
                yield "CW1124", ("hooks", index, "pools", position), what, f"Name one of: {known}"


def _users_have_accounts(spec: ClusterSpec) -> Iterator[Break]:
    known = ", ".join(spec.accounts)
    for name, user in spec.users.items():
        if user.account not in spec.accounts:
            what = f"user '{name}' has the account '{user.account}', which does not exist"
            yield "CW1125", ("users", name, "account"), what, f"Name one of: {known or 'none is described'}"


def _accounts_form_a_tree(spec: ClusterSpec) -> Iterator[Break]:
    circles = _in_circles(spec)
    for name, account in spec.accounts.items():
        path: Path = ("accounts", name, "parent")
        if name == "root":
            remedy = "Choose another name; accounts without a parent are below root already"
            yield "CW1126", ("accounts", name), "'root' is Slurm's own account above all others", remedy
        elif account.parent and account.parent != "root" and account.parent not in spec.accounts:
            what = f"account '{name}' is below '{account.parent}', which does not exist"
            yield "CW1126", path, what, f"Describe '{account.parent}' too, or remove 'parent'"
        elif name in circles:
            yield "CW1126", path, f"account '{name}' is below itself", "Break the circle of parents"


def _in_circles(spec: ClusterSpec) -> set[str]:
    """Accounts that are their own ancestors, found by climbing past each account once."""
    circles: set[str] = set()
    settled: set[str] = set()
    for start in spec.accounts:
        climbed: dict[str, int] = {}
        name: str | None = start
        while name in spec.accounts and name not in settled and name not in climbed:
            climbed[name] = len(climbed)
            name = spec.accounts[name].parent
        if name in climbed:
            circles.update(list(climbed)[climbed[name] :])
        settled.update(climbed)
    return circles


def _user_ids_differ(spec: ClusterSpec) -> Iterator[Break]:
    holders = defaultdict(list)
    for name, user in spec.users.items():
        if user.uid is not None:
            holders[user.uid].append(name)
        if name == "root":
            remedy = "Describe people; root is there already"
            yield "CW1127", ("users", name), "'root' is the system's own account", remedy
    for uid, names in holders.items():
        for name in names[1:]:
            what = f"users '{names[0]}' and '{name}' have the same uid {uid}"
            yield "CW1127", ("users", name, "uid"), what, "Give each person a number of their own"


def _one_default_partition(spec: ClusterSpec) -> Iterator[Break]:
    defaults = [name for name, partition in spec.scheduler.partitions.items() if partition.default]
    for name in defaults[1:]:
        what = f"'{defaults[0]}' is the default partition already"
        yield "CW1128", ("scheduler", "partitions", name, "default"), what, "Keep one default"


def _partitions_have_nodes(spec: ClusterSpec) -> Iterator[Break]:
    compute = {name: pool for name, pool in spec.pools.items() if "compute" in pool.roles}
    known = {partition for name, pool in compute.items() for partition in pool.partitions or [name]}
    for name in spec.scheduler.partitions:
        if name not in known:
            what = f"no pool of compute nodes is in the partition '{name}'"
            remedy = f"Add it to a pool's 'partitions', or name one of: {', '.join(sorted(known))}"
            yield "CW1129", ("scheduler", "partitions", name), what, remedy
    for name, pool in spec.pools.items():
        if pool.partitions and name not in compute:
            what = f"pool '{name}' has partitions but no compute nodes"
            yield (
                "CW1129",
                ("pools", name, "partitions"),
                what,
                "Add the role `compute`, or remove 'partitions'",
            )


def _default_time_fits(spec: ClusterSpec) -> Iterator[Break]:
    for name, partition in spec.scheduler.partitions.items():
        if partition.default_time and partition.max_time and partition.default_time > partition.max_time:
            what = f"'default_time' of the partition '{name}' is longer than its 'max_time'"
            yield "CW1130", ("scheduler", "partitions", name, "default_time"), what, "Make it shorter"


def _fabric_settings_have_an_effect(spec: ClusterSpec) -> Iterator[Break]:
    fabric = spec.fabric
    for key, wanted in (("nodes_per_leaf", "tree"), ("block_size", "block")):
        cabled = key == "nodes_per_leaf" and fabric.switches is not None
        if getattr(fabric, key) is not None and fabric.topology != wanted and not cabled:
            what = f"'{key}' means nothing to the topology '{fabric.topology}'"
            yield "CW1131", ("fabric", key), what, f"Remove it, or write `topology: {wanted}`"
    if fabric.topology == "block" and fabric.block_size is None:
        yield (
            "CW1131",
            ("fabric", "topology"),
            "the topology 'block' needs 'block_size'",
            "Add it, 18 for NVL72",
        )


_RULES: tuple[Callable[[ClusterSpec], Iterator[Break]], ...] = (
    _one_way_to_name_sites,
    _pools_know_their_site,
    _count_or_nodes,
    _node_sets_name_each_node_once,
    _hooks_name_pools,
    _users_have_accounts,
    _accounts_form_a_tree,
    _user_ids_differ,
    _one_default_partition,
    _partitions_have_nodes,
    _default_time_fits,
    _fabric_settings_have_an_effect,
)
