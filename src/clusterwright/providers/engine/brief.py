"""The SDK's stack without what nobody asks it here, which costs three starts of the engine an operation."""

from __future__ import annotations

from datetime import datetime

from pulumi import automation
from pulumi.automation._stack import StackInitMode


class BriefStack(automation.Stack):
    """What an operation did stands in its events, and what there is now in the state."""

    @classmethod
    def select(cls, stack_name: str, workspace: automation.Workspace) -> BriefStack:
        return cls(stack_name, workspace, StackInitMode.SELECT)

    @classmethod
    def create_or_select(cls, stack_name: str, workspace: automation.Workspace) -> BriefStack:
        return cls(stack_name, workspace, StackInitMode.CREATE_OR_SELECT)

    def outputs(self) -> automation.OutputMap:
        return {}

    def info(self, show_secrets: bool = True) -> automation.UpdateSummary:  # noqa: ARG002 (the SDK's name)
        return automation.UpdateSummary("", datetime.min, "", {}, {}, "")
