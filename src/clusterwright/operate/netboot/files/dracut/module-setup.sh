#!/bin/bash
# A module of dracut's: the root file system is an image that is fetched over HTTP, checked, and run from memory or
# written to a disk.

check() {
  return 255 # where it is asked for
}

depends() {
  echo network
}

installkernel() {
  hostonly='' instmods loop overlay squashfs ext4 vfat nls_ascii nls_cp437 nls_iso8859-1 \
    ahci nvme sd_mod usb_storage virtio_blk virtio_scsi hv_storvsc \
    aacraid hpsa megaraid_sas mpi3mr mpt3sas smartpqi # what servers have their disks behind
}

install() {
  inst_multiple blkid cat chroot cp curl cut grep mkdir mount rm sed sfdisk sha256sum sleep sync udevadm umount wipefs
  inst_hook cmdline 90 "${moddir:?}/parse-image.sh"
  inst_script "${moddir:?}/fetch-image.sh" /sbin/clusterwrightroot
  inst_script "${moddir:?}/clusterwright-disk.sh" /sbin/clusterwright-disk.sh
  dracut_need_initqueue
}
