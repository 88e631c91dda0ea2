"""`up`, `destroy` and `status` of clusters on a cloud: a stack of Pulumi's, driven from here."""
