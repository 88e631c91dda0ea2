"""clusterwright: one description of a GPU cluster in, a proven cluster out."""

__version__ = "0.1.0"
