# Runs on the operator's machine: USER ADDRESS PORT KEY AUTHORITY → whether the key opens a machine that shows
# a certificate of the authority, by a connection of its own, and root is to be had there. Silent where it does.
# An sshd that was just told of its certificate starts itself anew, and refuses connections meanwhile.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "@cert-authority * $(cat "$5.pub")" >"$folder/known"
said=$(ssh -F /dev/null -i "$4" -p "$3" -o BatchMode=yes -o IdentitiesOnly=yes -o PasswordAuthentication=no \
  -o StrictHostKeyChecking=yes -o UserKnownHostsFile="$folder/known" -o GlobalKnownHostsFile=/dev/null \
  -o ConnectTimeout=10 -o ConnectionAttempts=10 -o ControlPath=none -o LogLevel=ERROR "$1@$2" sudo -n true 2>&1) || echo "$said"
