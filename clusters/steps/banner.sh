#!/bin/sh
# A step of the site's own: it may run again at any time, so it says what is, and changes nothing twice.
set -eu
echo "Nodes of this room log what they do, see https://hpc.example.internal" >/etc/motd
