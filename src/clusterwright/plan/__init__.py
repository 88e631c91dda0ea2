"""Description and catalog in, a frozen ClusterPlan out. Pure: the same input gives the same bytes."""
