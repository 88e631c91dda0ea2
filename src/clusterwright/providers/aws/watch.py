"""What tells somebody: traffic that was refused, and money that is spent."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from clusterwright.providers.aws.policy import policy, trusting
from clusterwright.providers.aws.tags import named

_DAYS = 30


class RefusedTraffic(pulumi.ComponentResource):
    """A log group of what the network refused: the first place to look when a node does not come up."""

    def __init__(
        self,
        name: str,
        *,
        vpc_id: pulumi.Input[str],
        boundary: str | None = None,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:aws:RefusedTraffic", name, None, opts)
        own, mine = pulumi.ResourceOptions(parent=self), named(tags, f"{name}-refused")
        group = aws.cloudwatch.LogGroup(f"{name}-refused", retention_in_days=_DAYS, tags=mine, opts=own)
        role = aws.iam.Role(
            f"{name}-refused",
            assume_role_policy=trusting("vpc-flow-logs.amazonaws.com"),
            permissions_boundary=boundary,
            tags=mine,
            opts=own,
        )
        aws.iam.RolePolicy(f"{name}-refused", role=role.id, policy=group.arn.apply(_writes), opts=own)
        aws.ec2.FlowLog(
            f"{name}-refused",
            vpc_id=vpc_id,
            traffic_type="REJECT",
            log_destination=group.arn,
            iam_role_arn=role.arn,
            tags=mine,
            opts=own,
        )
        self.register_outputs({})


class Budget(pulumi.ComponentResource):
    """Warns of what the cluster costs, by its tag. Nothing is stopped."""

    def __init__(
        self,
        name: str,
        *,
        dollars: int,
        email: str,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:aws:Budget", name, None, opts)
        key = "clusterwright:cluster"
        aws.budgets.Budget(
            name,
            budget_type="COST",
            time_unit="MONTHLY",
            limit_amount=str(dollars),
            limit_unit="USD",
            cost_filters=[
                aws.budgets.BudgetCostFilterArgs(name="TagKeyValue", values=[f"user:{key}${tags[key]}"])
            ],
            notifications=[_warning("ACTUAL", 80, email), _warning("FORECASTED", 100, email)],
            tags=named(tags, name),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})


def _warning(kind: str, percent: float, email: str) -> aws.budgets.BudgetNotificationArgs:
    return aws.budgets.BudgetNotificationArgs(
        notification_type=kind,
        comparison_operator="GREATER_THAN",
        threshold=percent,
        threshold_type="PERCENTAGE",
        subscriber_email_addresses=[email],
    )


def _writes(group: str) -> str:
    actions = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
    statement = {"Effect": "Allow", "Action": actions, "Resource": f"{group}:*"}
    return policy([statement])
