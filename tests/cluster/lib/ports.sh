# Free ports, one per NAME, remembered in the cluster's directory. Sourced; needs directory.sh and
# $directory.
#
# They are taken from below the range that the kernel gives to clients and to servers on port 0, and
# written down under a lock that all clusters share: two that start at once cannot take the same
# one.

is_free() {
  ! grep -qrxs ".* $1" "$clusters"/*/ports/ && ! (: <>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# choose_ports NAME...
choose_ports() {
  mkdir -p "$directory/ports"
  exec 9>"$clusters/.lock"
  flock 9
  local name port
  for name in "$@"; do
    port=$((20000 + RANDOM % 12000))
    until is_free "$port"; do port=$((20000 + RANDOM % 12000)); done
    echo "$name $port" >"$directory/ports/$name"
  done
  exec 9>&-
}

port_of() {
  cut -d ' ' -f 2 "$directory/ports/$1"
}
