"""Rules on what a cloud told: pure, so that what was seen once can be judged again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from inspect import cleandoc
from typing import Generic, Literal, TypeVar

from clusterwright.checks.live.answer import Unanswered, gaps
from clusterwright.checks.rule import Problem
from clusterwright.finding import Finding, Severity, Where

Subject = TypeVar("Subject", contravariant=True)
Seen = TypeVar("Seen", contravariant=True)
Result = Literal["passed", "failed", "skipped", "nothing to ask"]


@dataclass(frozen=True, slots=True)
class LiveRule(Generic[Subject, Seen]):
    """One thing that only the account's own cloud can tell to be wrong."""

    code: str
    title: str
    text: str
    source: str
    example: str
    severity: Severity
    needs: tuple[str, ...]
    """Questions whose answers it judges: fields of what was seen."""
    test: Callable[[Subject, Seen], Iterator[Problem]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one rule."""

    code: str
    title: str
    result: Result
    why: str = ""
    """Of a rule that was skipped, in whole or in part."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Every rule with its outcome, and what there is to say."""

    outcomes: tuple[Outcome, ...]
    findings: tuple[Finding, ...]


def live_rule(
    code: str,
    title: str,
    *,
    needs: tuple[str, ...],
    source: str,
    example: str,
    severity: Severity = Severity.ERROR,
) -> Callable[[Callable[[Subject, Seen], Iterator[Problem]]], LiveRule[Subject, Seen]]:
    """Turn a function of plan and what was seen into a LiveRule."""

    def declare(test: Callable[[Subject, Seen], Iterator[Problem]]) -> LiveRule[Subject, Seen]:
        return LiveRule(code, title, cleandoc(test.__doc__ or ""), source, example, severity, needs, test)

    return declare


def judge(
    rules: Iterable[LiveRule[Subject, Seen]],
    subject: Subject,
    seen: Seen,
    where: Callable[[str], Where],
    place: str,
) -> Verdict:
    """Never raises. `place` is the field that questions without an answer are shown at."""
    outcomes, findings = [], []
    for rule in rules:
        answers = [getattr(seen, need) for need in rule.needs]
        missing = [gap for answer in answers for gap in gaps(answer)]
        why = ", ".join(dict.fromkeys(_why(gap.reason, gap.permission) for gap in missing))
        if any(answer is None for answer in answers):
            outcomes.append(Outcome(rule.code, rule.title, "nothing to ask"))
            continue
        if any(isinstance(answer, Unanswered) for answer in answers):
            outcomes.append(Outcome(rule.code, rule.title, "skipped", why))
            continue
        problems = list(rule.test(subject, seen))
        findings += [
            Finding(rule.code, where(one.path), one.what, one.remedy, rule.severity) for one in problems
        ]
        result: Result = "failed" if problems else "skipped" if missing else "passed"
        outcomes.append(Outcome(rule.code, rule.title, result, why))
    findings += _unanswered(rules, seen, where(place))
    ordered = sorted(findings, key=lambda one: (one.where, one.code, one.what))
    return Verdict(tuple(outcomes), tuple(ordered))


def _why(reason: str, permission: str) -> str:
    return {"permission": f"no permission: {permission}"}.get(reason, f"{reason}: {permission}")


@dataclass(frozen=True, slots=True)
class Gap:
    """What it means that a question has no answer."""

    code: str
    title: str
    text: str
    example: str
    what: str
    remedy: str


GAPS = {
    "permission": Gap(
        "CW1490",
        "A permission is missing for a check",
        "What it would have found is not known; everything else was asked. docs/aws.md and docs/gcp.md have "
        "the permissions that all checks need.",
        "credentials without ec2:DescribeCapacityReservations",
        "these credentials may not do {permission}",
        "Let them, or go on without: {permission} only reads",
    ),
    "throttled": Gap(
        "CW1491",
        "A cloud has no time for a check",
        "Too many questions were asked of the account at once, by this command or by others.",
        "RequestLimitExceeded for servicequotas:GetServiceQuota",
        "{permission} was asked too often: {words}",
        "Run the same command again in a minute",
    ),
    "unreachable": Gap(
        "CW1492",
        "A cloud did not answer a check",
        "The address cannot be reached from this machine, or the answer took too long.",
        "no route to the service's endpoint, or a proxy in between",
        "no answer to {permission}: {words}",
        "See that this machine reaches the service, then run the same command again",
    ),
    "refused": Gap(
        "CW1493",
        "A cloud refused a check",
        "The service answered with an error that is about none of the description's fields.",
        "an API that is not enabled in the project",
        "{permission} was refused: {words}",
        "Mend what the service says, then run the same command again",
    ),
}


def _unanswered(rules: Iterable[LiveRule[Subject, Seen]], seen: Seen, where: Where) -> Iterator[Finding]:
    needs = dict.fromkeys(need for rule in rules for need in rule.needs)
    missing = dict.fromkeys(gap for need in needs for gap in gaps(getattr(seen, need)))
    for gap in missing:
        told, words = GAPS[gap.reason], " ".join(gap.words.split())[:300]
        what = told.what.format(permission=gap.permission, words=words)
        remedy = told.remedy.format(permission=gap.permission)
        yield Finding(told.code, where, what, remedy, Severity.WARNING)
