# Container images made by hand, without a registry and without a builder. Sourced.

# make_image REFERENCE ROOT ARCHIVE COMMAND...: an archive as `docker save` writes it, with ROOT as
# its only layer.
make_image() {
  local reference=$1 root=$2 archive=$3 work digest arguments
  shift 3
  work=$(mktemp -d "$archive.XXXX")
  tar -C "$root" --owner=0 --group=0 --numeric-owner --sort=name --mtime=@0 -cf "$work/layer.tar" .
  digest=$(sha256sum "$work/layer.tar" | cut -d ' ' -f 1)
  arguments=$(printf ', "%s"' "$@")
  cat >"$work/config.json" <<TEXT
{"architecture": "$(dpkg --print-architecture)", "os": "linux",
 "config": {"Env": ["PATH=/usr/local/bin:/usr/bin:/bin"], "Cmd": [${arguments#, }]},
 "rootfs": {"type": "layers", "diff_ids": ["sha256:$digest"]}}
TEXT
  cat >"$work/manifest.json" <<TEXT
[{"Config": "config.json", "RepoTags": ["$reference"], "Layers": ["layer.tar"]}]
TEXT
  tar -C "$work" -cf "$archive" manifest.json config.json layer.tar
  rm -rf "$work"
}

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
