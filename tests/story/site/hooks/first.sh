#!/bin/sh
# Before anything is configured: slurmd does not run yet on a new node.
echo "first $(systemctl is-active clusterwright-certificates)" >> /var/log/site-steps
echo changed
