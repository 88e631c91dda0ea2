#!/bin/sh
# Read by clusterwrightroot. Where the kernel is told clusterwright.disk=, the image is written there once, and the
# machine runs from it: a disk is known by the names of its partitions, and the root's has the image's digest only
# when all else is written. Tools are those of the image, so that the initramfs has few.
# shellcheck disable=SC2154 # place, url, wanted and newroot are of the script that reads this
disk=$(getarg clusterwright.disk=)
complete=clusterwright-$(printf %.16s "$wanted")

refuse() { # REASON, as the controller finds it in its journal, and words for the console; nothing goes on from here
  reason=$1
  shift
  while :; do
    say "$*"
    curl --silent --output /dev/null "${url%%/images/*}/refused/$reason"
    sleep 60
  done
}

partitions() { # a line each: device, and name
  sfdisk --dump "$disk" 2>/dev/null | sed -n 's/^\([^ ]*\) : .*name="\([^"]*\)".*/\1 \2/p; t; s/^\([^ ]*\) : .*/\1 -/p'
}

called() { # NAME: its device
  partitions | sed -n "s/ $1\$//p"
}

look() { # what is on the disk: nothing, half an image, this image, another one, or somebody's
  others=$(partitions | grep -v ' clusterwright-' | cut -d' ' -f1)
  if [ -n "$others" ]; then
    echo foreign
  elif [ -z "$(partitions)" ]; then
    [ -z "$(blkid --probe --output value --match-tag TYPE "$disk")" ] && echo empty || echo foreign
  elif [ -n "$(called "$complete")" ]; then
    echo this
  elif [ -n "$(called clusterwright-partial)" ]; then
    echo partial
  else
    echo another
  fi
}

may_write() { # whether there is anything to write; a disk that is somebody's is left alone unless that was asked for
  tries=60
  until [ -e "$disk" ]; do
    [ "$tries" -gt 0 ] || refuse no-disk "there is no disk $disk"
    tries=$((tries - 1))
    sleep 1
  done
  [ -d /sys/firmware/efi ] || refuse no-uefi "it started by BIOS, and its disk would start by UEFI only"
  seen=$(look)
  say "$disk: $seen"
  case $seen,$(getarg clusterwright.write=) in
    empty,* | partial,* | foreign,erase | another,rewrite | another,erase | this,rewrite) return 0 ;;
    this,*) return 1 ;;
    another,*) refuse another-image "$disk has another image; provision --rewrite replaces it" ;;
    *) refuse foreign-disk "$disk has something of somebody's; provision --erase overwrites it" ;;
  esac
}

start_from_disk() {
  mount -t ext4 "$(called "$complete")" "$newroot" || refuse not-started "the root of $disk could not be mounted"
}

in_image() {
  chroot "$place/lower" "$@"
}

served() { # FILE SHA256: fetched from beside the image, to its folder of the boot loader's
  curl --fail --silent --show-error --output "$target/efi/clusterwright/$1" "${url%/*}/$1" &&
    echo "$2  $target/efi/clusterwright/$1" | sha256sum --check --quiet
}

arguments() { # those of the kernel that are not of this start
  # shellcheck disable=SC2013 # words are what is wanted
  for word in $(cat /proc/cmdline); do
    case $word in
      BOOT_IMAGE=* | BOOTIF=* | initrd=* | ip=* | rd.neednet=* | clusterwright.* | systemd.hostname=*) ;;
      *) printf '%s ' "$word" ;;
    esac
  done
}

write_disk() {
  target=$place/disk
  mount --bind /dev "$place/lower/dev" &&
    wipefs --all --quiet "$disk" &&
    printf '%s\n' "label: gpt" "size=512MiB, type=uefi, name=clusterwright-esp" \
      "type=linux, name=clusterwright-partial" |
      sfdisk --quiet --wipe always --wipe-partitions always "$disk" &&
    udevadm settle &&
    esp=$(called clusterwright-esp) && root=$(called clusterwright-partial) &&
    in_image mkfs.vfat -F 32 "$esp" >/dev/null && in_image mkfs.ext4 -q -F "$root" &&
    mkdir -p "$target" && mount -t ext4 "$root" "$target" &&
    cp -ax "$place/lower/." "$target" &&
    mkdir -p "$target/efi" && mount -t vfat "$esp" "$target/efi" &&
    mkdir -p "$target/efi/EFI/BOOT" "$target/efi/loader/entries" "$target/efi/clusterwright" &&
    settle && sync && umount "$target/efi" "$target" && umount "$place/lower/dev" &&
    sfdisk --quiet --part-label "$disk" 2 "$complete" && sync && udevadm settle
}

settle() { # what makes it this machine's, and lets it start from there
  part=$(blkid --probe --output value --match-tag PART_ENTRY_UUID "$root")
  getarg systemd.hostname= >"$target/etc/hostname"
  : >"$target/etc/machine-id"
  printf '%s\n' "PARTUUID=$part / ext4 errors=remount-ro 0 1" >"$target/etc/fstab"
  printf '%s\n' "default clusterwright.conf" "timeout 2" >"$target/efi/loader/loader.conf"
  printf '%s\n' "title clusterwright" "linux /clusterwright/vmlinuz" "initrd /clusterwright/initrd.img" \
    "options root=PARTUUID=$part rw $(arguments)" >"$target/efi/loader/entries/clusterwright.conf"
  served vmlinuz "$(getarg clusterwright.vmlinuz=)" && served initrd.img "$(getarg clusterwright.initramfs=)" &&
    cp "$place/lower/usr/lib/systemd/boot/efi/systemd-bootx64.efi" "$target/efi/EFI/BOOT/BOOTX64.EFI"
}
