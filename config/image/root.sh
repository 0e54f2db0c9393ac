#!/usr/bin/env bash
# Lays out the root of a container that runs the host: the binary, its plugins, the libraries that
# they are linked with, certificates and time zones, all from this machine, which must be the one
# that it was built on. There is no shell in it.
set -euo pipefail

if [ $# -ne 2 ]; then
  cat >&2 <<'TEXT'
Usage: config/image/root.sh BUILD ROOT

  BUILD   a finished build, such as build/
  ROOT    a directory; it is made, and must not exist
TEXT
  exit 2
fi
build=$1 root=$2
[ -x "$build/bin/detent" ] || { echo "$build/bin/detent is not there; build it first" >&2; exit 1; }
[ ! -e "$root" ] || { echo "$root exists already" >&2; exit 1; }

mkdir -p "$root"/{usr/bin,usr/lib/detent/plugins,etc/ssl/certs,usr/share,var/lib/detent,tmp}
chmod 1777 "$root/tmp"
install -s -m 0755 "$build/bin/detent" "$root/usr/bin/detent"
for plugin in "$build"/lib/detent/plugins/*.so; do
  install -s -m 0644 "$plugin" "$root/usr/lib/detent/plugins/"
done

# libcurl is loaded with the first request, so no list of linked libraries has it.
curl=$(ldconfig -p | awk '$1 == "libcurl.so.4" && !found++ {print $NF}')
[ -n "$curl" ] || { echo "libcurl.so.4 is not installed" >&2; exit 1; }
{
  echo "$curl"
  ldd "$build/bin/detent" "$build"/lib/detent/plugins/*.so "$curl" |
    awk '$2 == "=>" && $3 ~ /^\// {print $3} $1 ~ /^\// && NF == 2 {print $1}'
} | sort -u | while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done

cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
cp -a /usr/share/zoneinfo "$root/usr/share/"
echo 'detent:x:65532:65532:Detent:/var/lib/detent:/sbin/nologin' >"$root/etc/passwd"
echo 'detent:x:65532:' >"$root/etc/group"
chown 65532:65532 "$root/var/lib/detent" 2>/dev/null || true
