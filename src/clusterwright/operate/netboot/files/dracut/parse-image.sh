#!/bin/sh
# Read by dracut, which then runs `clusterwrightroot` once the network is up. The kernel is told no `root=`:
# systemd would make something of it as well.
# shellcheck disable=SC2034 # dracut reads these
image=$(getarg clusterwright.image=)
if [ -n "$image" ]; then
  netroot="clusterwright:$image" root=clusterwright rootok=1
  # shellcheck disable=SC2016,SC2154 # expanded by dracut, whose variables these are
  echo '[ -e "$NEWROOT/proc" ]' >"$hookdir/initqueue/finished/clusterwright-image.sh"
fi
