"""Gates: prove every node and the cluster as a whole, and say what is wrong when one does not pass."""
