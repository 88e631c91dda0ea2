"""What tells somebody of money that is spent."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_gcp as gcp

from clusterwright.plan.gcp.model import Budget as Planned


class Budget(pulumi.ComponentResource):
    """Warns of what the cluster costs, by its label. Nothing is stopped."""

    def __init__(
        self,
        name: str,
        *,
        budget: Planned,
        project: str,
        label: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:gcp:Budget", name, None, opts)
        own = pulumi.ResourceOptions(parent=self)
        # The service of budgets asks which project pays for the question, where a person asks it: Pulumi's
        # reference of gcp.billing.Budget.
        asking = gcp.Provider(
            f"{name}-budget", project=project, billing_project=project, user_project_override=True, opts=own
        )
        reader = gcp.monitoring.NotificationChannel(
            name,
            project=project,
            type="email",
            display_name=f"Budget of {name}",
            labels={"email_address": budget.email},
            opts=own,
        )
        gcp.billing.Budget(
            name,
            billing_account=budget.account,
            display_name=name,
            amount=gcp.billing.BudgetAmountArgs(
                specified_amount=gcp.billing.BudgetAmountSpecifiedAmountArgs(units=str(budget.amount))
            ),
            budget_filter=gcp.billing.BudgetBudgetFilterArgs(labels=label, calendar_period="MONTH"),
            threshold_rules=[
                gcp.billing.BudgetThresholdRuleArgs(threshold_percent=0.8, spend_basis="CURRENT_SPEND"),
                gcp.billing.BudgetThresholdRuleArgs(threshold_percent=1.0, spend_basis="FORECASTED_SPEND"),
            ],
            all_updates_rule=gcp.billing.BudgetAllUpdatesRuleArgs(
                monitoring_notification_channels=[reader.id], disable_default_iam_recipients=True
            ),
            opts=pulumi.ResourceOptions.merge(own, pulumi.ResourceOptions(provider=asking)),
        )
        self.register_outputs({})
