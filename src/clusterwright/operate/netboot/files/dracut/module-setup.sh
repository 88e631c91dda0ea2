#!/bin/bash
# A module of dracut's: the root file system is an image that is fetched over HTTP, checked, and run from memory.

check() {
  return 255 # where it is asked for
}

depends() {
  echo network
}

installkernel() {
  hostonly='' instmods loop overlay squashfs
}

install() {
  inst_multiple cat curl cut mkdir mount rm sha256sum sleep umount
  inst_hook cmdline 90 "${moddir:?}/parse-image.sh"
  inst_script "${moddir:?}/fetch-image.sh" /sbin/clusterwrightroot
  dracut_need_initqueue
}
