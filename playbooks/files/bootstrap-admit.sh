# Runs as root on a machine that may have nothing but a shell and SSH. It is told NODE, ADMIN, KEY, AUTHORITY,
# FILES (`MODE PATH CONTENT`, a line each, content in base64) and CHECK (yes: change nothing, tell what would).
# It says a line for each change, and what the operator's machine has to know afterwards.
set -eu
umask 022
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

fail() {
  echo "failed: $*"
  exit 1
}

change() { # whether to do it
  echo "change: $1"
  [ "$CHECK" != yes ]
}

place() { # MODE PATH, content on standard input
  cat >"$work"
  cmp -s "$work" "$2" && [ "$(stat -c %a "$2")" = "${1#0}" ] && return
  change "$2" || return 0
  mkdir -p "${2%/*}"
  install -m "$1" "$work" "$2.clusterwright"
  mv -f "$2.clusterwright" "$2"
  case $2 in
    /usr/local/share/ca-certificates/*) update-ca-certificates >/dev/null 2>&1 || true ;;
    /etc/pki/ca-trust/*) update-ca-trust >/dev/null 2>&1 || true ;;
  esac
}

with_apt() {
  LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}

patiently() { # neither apt waits for the lock of its lists nor dpkg for its own: what a killed run began may go on
  tries=60
  until told=$("$@" 2>&1); do
    tries=$((tries - 1))
    case $told in
      *lists/lock* | *"locked by "*) [ "$tries" -gt 0 ] && sleep 5 && continue ;;
    esac
    echo "$told"
    return 1
  done
}

install_packages() {
  if command -v apt-get >/dev/null; then
    # Lists that are there may do; without any, or with old ones, they are fetched once. A dpkg that was killed
    # has to end first.
    with_apt --no-install-recommends install "$@" || {
      LC_ALL=C patiently dpkg --force-confdef --force-confold --configure --pending </dev/null || true
      patiently with_apt update && with_apt --no-install-recommends install "$@"
    }
  elif command -v dnf >/dev/null; then
    dnf -q -y --setopt=install_weak_deps=False install "$@"
  else
    echo "there is neither apt-get nor dnf"
    return 1
  fi
}

keeps_time() {
  for unit in chrony chronyd systemd-timesyncd ntpsec ntpd ntp; do
    systemctl is-enabled --quiet "$unit" 2>/dev/null && return
  done
  return 1
}

[ "$(id -u)" = 0 ] || fail "this is not root"
work=$(mktemp)
trap 'rm -f "$work"' EXIT

printf '%s\n' "$FILES" | while read -r mode path content; do
  [ -z "$path" ] || printf %s "$content" | base64 -d | place "$mode" "$path"
done

missing=
python3 -c 'import json' 2>/dev/null || missing="$missing python3" # half of it may be there
command -v sudo >/dev/null || missing="$missing sudo"
keeps_time || missing="$missing chrony"
if [ -n "$missing" ] && change "packages$missing"; then
  # shellcheck disable=SC2086 # a word is a package
  install_packages $missing >"$work" 2>&1 ||
    fail "could not install$missing: $(grep -v '^W:' "$work" | tail -n 3 | tr '\n' ' ')"
  command -v python3 >/dev/null || fail "there is no python3, though its package is installed"
fi

if [ "$(cat /proc/sys/kernel/hostname)" != "$NODE" ] && change "host name"; then
  hostnamectl set-hostname "$NODE" 2>/dev/null || {
    echo "$NODE" >/etc/hostname
    echo "$NODE" >/proc/sys/kernel/hostname
  }
  grep -qw "$NODE" /etc/hosts || echo "$ADDRESS $NODE" >>/etc/hosts # else sudo looks for it in vain
fi

if ! id -u "$ADMIN" >/dev/null 2>&1 && change "login $ADMIN"; then
  useradd --system --user-group --create-home --home-dir "/var/lib/$ADMIN" --shell /bin/sh \
    --comment "clusterwright" "$ADMIN"
  usermod --password '*' "$ADMIN" # no password, and no locked account either, which sshd would refuse
fi
home=$(getent passwd "$ADMIN" | cut -d: -f6)
keys="${home:-/var/lib/$ADMIN}/.ssh/authorized_keys"
if ! grep -qsxF "$KEY" "$keys" && change "$keys"; then
  mkdir -p "${keys%/*}"
  { [ ! -e "$keys" ] || cat "$keys"; echo "$KEY"; } | grep . >"$work"
  install -m 0600 "$work" "$keys.clusterwright"
  mv -f "$keys.clusterwright" "$keys"
  chmod 0700 "${keys%/*}"
  chown -R "$ADMIN:" "${keys%/*}"
  ! command -v restorecon >/dev/null || restorecon -R "${keys%/*}"
fi
place 0440 /etc/sudoers.d/90-clusterwright <<END
Defaults:$ADMIN !requiretty
$ADMIN ALL=(ALL:ALL) NOPASSWD: ALL
END
[ "$CHECK" = yes ] || visudo -cqf /etc/sudoers.d/90-clusterwright || {
  rm -f /etc/sudoers.d/90-clusterwright
  fail "sudo does not take the rule for $ADMIN"
}

host_key=/etc/ssh/ssh_host_ed25519_key
if [ ! -s "$host_key" ] && change "$host_key"; then
  ssh-keygen -q -t ed25519 -N '' -C "root@$NODE" -f "$host_key"
fi

certified() { # by this authority, for this key and these names, and for two months more
  told=$(ssh-keygen -L -f "$host_key-cert.pub" 2>/dev/null) || return 1
  own=$(ssh-keygen -l -f "$host_key.pub" | cut -d' ' -f2)
  case $told in *"$AUTHORITY"*) ;; *) return 1 ;; esac
  case $told in *"$own"*) ;; *) return 1 ;; esac
  for name in $NODE $ADDRESS; do
    echo "$told" | grep -qE "^ +$name\$" || return 1
  done
  until=$(echo "$told" | sed -n 's/.*Valid:.* to //p')
  [ "$(date -d "$until" +%s)" -gt $(($(date +%s) + 5184000)) ]
}
settings=/etc/ssh/sshd_config.d/00-clusterwright.conf
if ! { certified && grep -qs "^HostCertificate $host_key-cert.pub" "$settings"; }; then
  echo "change: host certificate"
  echo "sign"
fi
[ ! -s "$host_key.pub" ] || echo "host-key: $(cut -d' ' -f1,2 "$host_key.pub")"

echo "clock: $(date +%s)"
if grep -qw memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
  echo "cgroup: cgroup/v2 /sys/fs/cgroup"
else
  at=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ {print $2; exit}' /proc/mounts)
  [ -z "$at" ] || echo "cgroup: cgroup/v1 ${at%/*}"
fi
