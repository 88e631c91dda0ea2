"""The login that clusterwright has on machines that it pushes to."""

ADMIN = "clusterwright-admin"
"""It may use sudo, and has no password."""
