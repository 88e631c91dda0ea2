#!/bin/sh
# After everything is configured: what this node runs is there.
echo "third $(systemctl is-active slurmctld)" >> /var/log/site-steps
