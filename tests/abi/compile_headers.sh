#!/bin/sh
# Compiles each public header alone, twice included, with one compiler and one standard. Usage:
#   compile_headers.sh COMPILER STANDARD INCLUDE_DIR
# Prints what fails; leaves no files behind.
set -u
compiler=$1 standard=$2 include_dir=$3
case $standard in c++*) language=c++ ;; *) language=c ;; esac
failed=0
for header in $(cd "$include_dir" && find detent -name '*.h' | LC_ALL=C sort); do
  printf '#include "%s"\n#include "%s"\nextern int detent_unit;\n' "$header" "$header" |
    "$compiler" -x "$language" -std="$standard" -Wall -Wextra -Wpedantic -Werror -Wundef \
      -I "$include_dir" -fsyntax-only - || {
    echo "$header does not compile with $compiler -std=$standard"
    failed=1
  }
done
exit $failed
