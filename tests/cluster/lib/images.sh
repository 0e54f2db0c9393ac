# The images of real nodes. Sourced; needs $here.

source "$here/../../config/image/make_image.sh"

# make_busybox_root DIRECTORY: a root with a shell and the usual programs, which needs no libraries.
make_busybox_root() {
  mkdir -p "$1"/{bin,etc,tmp,proc,sys,dev}
  chmod 1777 "$1/tmp"
  cp /bin/busybox "$1/bin/busybox"
  local program
  for program in $(/bin/busybox --list); do
    [ "$program" = busybox ] || ln -s busybox "$1/bin/$program"
  done
  echo 'root:x:0:0:root:/:/bin/sh' >"$1/etc/passwd"
}
