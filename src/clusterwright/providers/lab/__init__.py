"""The lab: a cluster of real systemd nodes on one Linux machine, with simulated GPUs."""
