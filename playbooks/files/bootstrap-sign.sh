# Runs on the operator's machine: AUTHORITY NODE ADDRESS HOST-KEY → the machine's certificate, for five years.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "$4" >"$folder/key.pub"
ssh-keygen -q -s "$1" -h -I "$2" -n "$2,$3" -V -1d:+260w "$folder/key.pub"
cat "$folder/key-cert.pub"
