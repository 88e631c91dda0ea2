# Runs as root: shows the machine's certificate to whoever connects. It is told CERTIFICATE.
set -eu
umask 022
host_key=/etc/ssh/ssh_host_ed25519_key
settings=/etc/ssh/sshd_config.d/00-clusterwright.conf

fail() {
  echo "failed: $*"
  exit 1
}

grep -qiE '^[[:space:]]*Include[[:space:]]+/etc/ssh/sshd_config\.d/' /etc/ssh/sshd_config ||
  fail "/etc/ssh/sshd_config does not include /etc/ssh/sshd_config.d/*.conf; that line belongs at its top"
echo "$CERTIFICATE" >"$host_key-cert.pub.clusterwright"
mv -f "$host_key-cert.pub.clusterwright" "$host_key-cert.pub"
[ ! -e "$settings" ] || cp "$settings" "$settings.before"
mkdir -p "${settings%/*}"
{
  echo "HostCertificate $host_key-cert.pub"
  [ ! -e "$settings" ] || grep -v '^HostCertificate ' "$settings" || true
} >"$settings.clusterwright"
mv -f "$settings.clusterwright" "$settings"
if ! said=$(sshd -t 2>&1 || /usr/sbin/sshd -t 2>&1); then
  rm -f "$settings"
  [ ! -e "$settings.before" ] || mv -f "$settings.before" "$settings"
  fail "sshd does not take the certificate: $said"
fi
rm -f "$settings.before"
systemctl reload ssh 2>/dev/null || systemctl reload sshd 2>/dev/null || systemctl try-restart ssh.service sshd.service
