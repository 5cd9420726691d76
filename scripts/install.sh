#!/bin/sh
# Installs weigh from a release, after its checksum was compared. Usage: install.sh ADDRESS [DIR]
# ADDRESS is where the files of the release are, https://… or a folder; DIR is ~/.local/bin by default. Needs no root, and starts nothing.
set -eu
[ $# -ge 1 ] || { echo "usage: install.sh ADDRESS [DIR]; ADDRESS is where the files of the release are" >&2; exit 2; }
address=${1%/} dir=${2:-$HOME/.local/bin}
fail() {
    echo "install: $1" >&2
    exit 1
}
case $(uname -sm) in
    "Linux x86_64") ;;
    *) fail "there is no program for $(uname -sm); build it: make build" ;;
esac
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
get() {
    case $address in
        https://*) curl --proto '=https' --fail --silent --show-error --location --output "$room/$1" "$address/$1" ;;
        *://*) fail "$address: only https is asked" ;;
        *) cp "$address/$1" "$room/$1" ;;
    esac || fail "$address/$1 is not available"
}
get SHA256SUMS
# The static program runs on every distribution.
archive=$(sed -n 's/^[0-9a-f]\{64\}  \(weigh-[0-9][0-9A-Za-z.-]*-x86_64-linux-musl\.tar\.gz\)$/\1/p' "$room/SHA256SUMS")
[ "$(echo "$archive" | wc -w)" -eq 1 ] || fail "SHA256SUMS names no program for this machine"
get "$archive"
(cd "$room" && grep -F "  $archive" SHA256SUMS | sha256sum --check --status -) || fail "$archive is not what SHA256SUMS says; nothing was installed"
tar -C "$room" -xzf "$room/$archive"
mkdir -p "$dir"
# Whole or not at all, also while the old one runs.
cp "$room/${archive%.tar.gz}/weigh" "$dir/.weigh-new"
mv "$dir/.weigh-new" "$dir/weigh"
echo "installed: $dir/weigh ($("$dir/weigh" --version | head -n 1)). Next: go to your project's folder and type weigh"
case ":$PATH:" in *":$dir:"*) ;; *) echo "$dir is not on PATH" >&2 ;; esac
