# A container image made by hand, without a registry and without a builder. Sourced.

# make_image REFERENCE ROOT ARCHIVE COMMAND...: an archive as `docker save` writes it, with ROOT as
# its only layer. The same ROOT makes the same archive.
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
  tar -C "$work" --owner=0 --group=0 --numeric-owner --mtime=@0 \
    -cf "$archive" manifest.json config.json layer.tar
  rm -rf "$work"
}
