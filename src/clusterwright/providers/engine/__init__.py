"""Pulumi's engine, driven through its Automation API: the same program that `pulumi up` runs."""
