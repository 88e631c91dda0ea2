"""The policy pack: the rules of clusterwright.checks.resources, asked of a stack. It adds none of its own."""

from __future__ import annotations

from functools import partial

from pulumi_policy import (
    EnforcementLevel,
    PolicyPack,
    PolicyResource,
    ReportViolation,
    StackValidationArgs,
    StackValidationPolicy,
)

from clusterwright.checks.resources import RULES, Resource, ResourceRule, breaches


def seen(one: PolicyResource) -> Resource:
    links = {path: tuple(map(key, found)) for path, found in one.property_dependencies.items()}
    return Resource(key(one), one.resource_type, one.name, one.props, one.opts.protect, links)


def key(one: PolicyResource) -> str:
    return f"{one.resource_type}::{one.name}"


def validate(rule: ResourceRule, args: StackValidationArgs, report: ReportViolation) -> None:
    resources = [seen(one) for one in args.resources]
    urns = {key(one): one.urn for one in args.resources}
    for breach in breaches([rule], resources):
        report(f"{breach.key.rpartition('::')[2]}: {breach.what}. {rule.remedy}", urns[breach.key])


PolicyPack(
    "clusterwright",
    enforcement_level=EnforcementLevel.MANDATORY,
    policies=[
        StackValidationPolicy(rule.name, rule.text, partial(validate, rule), remediation_steps=rule.remedy)
        for rule in RULES
    ],
)
