# The network of a cluster's real nodes: one bridge, which has the nodes' address and the API's.
# Sourced; needs directory.sh and $directory.
#
# Pods of the N-th cluster are in 10.88.N.0/24, services in 10.89.N.0/24. The bridge has both .1
# addresses, so pods reach the host, and https://10.89.N.1 as a pod knows it, without the machine
# having to route or translate anything.

# choose_network: sets $network to an N that nobody uses.
choose_network() {
  exec 9>"$clusters/.lock"
  flock 9
  network=$((RANDOM % 256))
  while grep -qxs "$network" "$clusters"/*/network ||
    [ -n "$(ip -4 route show 10.88.$network.0/24)" ]; do
    network=$((RANDOM % 256))
  done
  echo "$network" >"$directory/network"
  exec 9>&-
}

make_bridge() {
  local bridge
  bridge=$(short_name "$directory")
  ip link add "$bridge" type bridge
  # Said once, its address stays. Else it is the lowest of its ports': a Pod that goes would change
  # it, and cut the others off until they have forgotten the old one.
  ip link set "$bridge" address "$(cat "/sys/class/net/$bridge/address")"
  ip addr add "10.88.$network.1/24" dev "$bridge"
  ip addr add "10.89.$network.1/32" dev "$bridge"
  ip link set "$bridge" up
}

remove_bridge() {
  local bridge
  bridge=$(short_name "$1")
  [ ! -e "/sys/class/net/$bridge" ] || ip link delete "$bridge"
}
