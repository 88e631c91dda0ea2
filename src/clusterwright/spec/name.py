"""Names that end up as host names, Slurm names and cloud resource names."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

ClusterName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,38}[a-z0-9]$|^[a-z]$")]
"""At most 40 characters: Slurm's accounting database uses it in table names."""
Label = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$")]
"""A DNS label that leaves room for a number: a pool, a site, a partition."""
AccountName = Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_-]{0,30}$")]
"""A Unix user name or a Slurm account name."""
NodeSet = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
"""Node names in the admin's own syntax: `gpu[001-004],gpu007`."""
