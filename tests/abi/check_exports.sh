#!/bin/sh
# Fails unless each given plugin exports exactly detent_plugin_entry, is bound at load time, cannot
# be unloaded, and has no text relocations or static thread-local storage (rule D-LOAD-4). Usage:
#   check_exports.sh PLUGIN.so...
set -u
failed=0
complain() {
  echo "$1"
  failed=1
}
for plugin in "$@"; do
  symbols=$(nm -D --defined-only "$plugin" | awk '{print $3}' | LC_ALL=C sort -u | tr '\n' ' ')
  [ "$symbols" = "detent_plugin_entry " ] || complain "$plugin exports: $symbols"
  dynamic=$(readelf -dW "$plugin")
  for flag in NOW NODELETE; do
    echo "$dynamic" | grep -q "FLAGS.*$flag" || complain "$plugin lacks the flag $flag"
  done
  readelf -lW "$plugin" | grep -q GNU_RELRO || complain "$plugin lacks RELRO"
  if echo "$dynamic" | grep -q 'TEXTREL\|STATIC_TLS'; then
    complain "$plugin has text relocations or static thread-local storage"
  fi
done
exit $failed
