"""What each code of this package means: `clusterwright explain CW8174`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW8174": Meaning(
        "Not a size of a batch",
        "Machines are worked on so many at a time: a number of them, or a share of all with `%`.",
        "bootstrap site.yaml --serial all",
    ),
    "CW8175": Meaning(
        "A machine shows a host key that nobody vouched for",
        "What is typed there would go to whoever answers. The finding has the fingerprints that it shows.",
        "bootstrap site.yaml --ask-password, without --known-hosts or --accept-new",
    ),
    "CW8176": Meaning(
        "A machine does not let this login in",
        "The others were gone on with. Each try is one try, so that no account is locked by many.",
        "bootstrap site.yaml, where one machine has another password",
    ),
    "CW8177": Meaning(
        "A machine shows another host key than before",
        "It was installed anew, or it is another machine that answers at this address.",
        "bootstrap site.yaml, after gpu-003 was exchanged",
    ),
    "CW8178": Meaning(
        "A machine does not answer",
        "It is off, not cabled, has another address, or did not come back from a reboot.",
        "bootstrap site.yaml, where one machine is off",
    ),
    "CW8179": Meaning(
        "This login may not become root",
        "Everything that is done there needs sudo, with a password or without.",
        "bootstrap site.yaml --user guest",
    ),
    "CW8180": Meaning(
        "A machine could not be bootstrapped or looked at",
        "The machine's own words are in the finding. The next run finishes what was begun.",
        "no Python there, and no package mirror that it reaches",
    ),
    "CW8181": Meaning(
        "A machine's clock is off",
        "Certificates and Slurm's keys are valid for a time, which both sides have to agree on.",
        "a machine without a time server that it reaches",
    ),
    "CW8182": Meaning(
        "Too many machines failed",
        "What fails on many machines is one cause, and is better found out before the next ones meet it.",
        "bootstrap site.yaml --serial 16 --max-fail-percentage 25, with the wrong password",
    ),
    "CW8183": Meaning(
        "A slurm.conf says what a description does not",
        "Nothing is dropped in silence: it has no place in a description, or is a person's to decide.",
        "init --from-slurm slurm.conf, with a JobSubmitPlugins",
    ),
    "CW8184": Meaning(
        "The machines were not bootstrapped",
        "clusterwright is let in by its own key, which `bootstrap` brings there.",
        "up site.yaml, with `provider: onprem`, on a new machine of the operator's",
    ),
    "CW8185": Meaning(
        "The password cannot be had",
        "It comes from a prompt, a file that its owner alone may read, or /dev/fd/N.",
        "bootstrap site.yaml --password-file pw, which others may read",
    ),
    "CW8186": Meaning(
        "Jobs run there",
        "They are of a Slurm that is not this cluster's yet, and nobody would drain a node for them.",
        "survey site.yaml, while the old cluster works",
    ),
    "CW8187": Meaning(
        "Software is there that `up` would exchange or take over",
        "Another GPU driver, another Slurm, or a file of the site's own that would be replaced.",
        "survey site.yaml, where a 550 driver is loaded and the lock has 580",
    ),
    "CW8188": Meaning(
        "A login collides",
        "A name has another number there, or a number another name: files would change hands.",
        "users: {ada: {uid: 2001}}, where ada is 1001 already",
    ),
    "CW8189": Meaning(
        "Something on the machine is in the way",
        "A firewall of the site's own, for one, or a clock that nobody keeps.",
        "survey site.yaml, where firewalld runs on a compute node",
    ),
    "CW8270": Meaning(
        "What the site keeps itself differs from the description",
        "Roles on `observe` are looked at and left: the note has what `manage` would change.",
        "pools: {gpu: {ansible_roles: {nvidia_driver: observe}}}, where another driver is installed",
    ),
    "CW8290": Meaning(
        "Another firewall is there beside the one of the description",
        "The kernel asks both: what the description lets in, the other may still drop.",
        "survey site.yaml with `site: {firewall: …}`, where firewalld runs on the controller",
    ),
}
