"""What clusterwright must reach, measured."""
