#!/bin/sh
# clusterwrightroot INTERFACE clusterwright:URL ROOT: fetch an image into memory and make it the root file system,
# only where its SHA-256 is the one of the kernel's command line. What is written there is in memory too, unless the
# machine has a disk for it.
command -v getarg >/dev/null || . /lib/dracut-lib.sh
url=${2#clusterwright:} newroot=$3
wanted=$(getarg clusterwright.sha256=)
place=/run/image

say() { # on every console, and in the journal
  echo "<3>clusterwright: $*" >>/dev/kmsg
}

fetched() {
  said=$(curl --fail --silent --show-error --location --retry 3 --retry-connrefused --connect-timeout 10 \
    --speed-limit 1000 --speed-time 30 --output "$place/root.squashfs" "$url" 2>&1) && return
  say "the image could not be fetched: $said"
  return 1
}

right() {
  found=$(sha256sum "$place/root.squashfs" | cut -d' ' -f1)
  [ -n "$wanted" ] && [ "$found" = "$wanted" ] && return
  say "the image $url is not used: its SHA-256 is $found and not ${wanted:-given}"
  return 1
}

# shellcheck source=src/clusterwright/operate/netboot/files/dracut/clusterwright-disk.sh
. "${0%/*}/clusterwright-disk.sh"
if [ -n "$disk" ] && ! may_write; then
  start_from_disk
  exit
fi
mkdir -p "$place"
mount -t tmpfs -o mode=0755,size=90% image "$place" || exit 1
mkdir "$place/lower" "$place/changes"
tries=1
until fetched && right; do
  rm -f "$place/root.squashfs"
  if [ "$tries" = 5 ]; then # by then the controller may name another one
    say "starting again from the network"
    reboot -f
  fi
  tries=$((tries + 1))
  say "trying again in 30 seconds"
  sleep 30
done
say "the image $url has the right SHA-256"

mount -t squashfs -o ro,loop "$place/root.squashfs" "$place/lower" || say "the image $url could not be mounted"
if [ -n "$disk" ]; then
  write_disk || refuse not-written "the image could not be written to $disk"
  say "the image is on $disk"
  start_from_disk
  exit
fi
mount -t tmpfs -o mode=0755,size=50% changes "$place/changes" &&
  mkdir "$place/changes/upper" "$place/changes/work" &&
  mount -t overlay -o "lowerdir=$place/lower,upperdir=$place/changes/upper,workdir=$place/changes/work" \
    root "$newroot" || say "the image $url could not be mounted"
