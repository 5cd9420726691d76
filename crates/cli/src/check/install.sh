#!/bin/sh
# Installs packages of Debian by apt-get and starts no service. Usage: install.sh [--show] PACKAGE...
# With --show it prints the command alone. Uses sudo when not root. Both scripts/setup and `weigh check --fix` call it.
set -eu
command="apt-get install -y -q --no-remove --no-install-recommends"
if [ "$1" = --show ]; then
    shift
    echo "$command $*"
    exit 0
fi
# Whoever calls may keep its own files to itself; those of packages are for everybody.
umask 022
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "not root and no sudo; install these and type the command again: $*" >&2
        exit 1
    fi
    as_root=sudo
fi
export DEBIAN_FRONTEND=noninteractive

# Debian's packages start their services, unless this file says 101 ("forbidden"): invoke-rc.d and deb-systemd-invoke both ask it. Its path
# is fixed, so it stands there while apt-get runs, and a trap removes it. A file of somebody else's stays as it is.
policy=${SETUP_POLICY:-/usr/sbin/policy-rc.d}
mark="# written by Weighbridge, and removed by it"
units() {
    if command -v systemctl >/dev/null 2>&1; then
        systemctl list-unit-files --type=service --no-legend --no-pager 2>/dev/null | cut -d ' ' -f 1
    fi
}
forbid() {
    # One with our mark was left by a killed run.
    if [ ! -e "$policy" ] || grep -qxF "$mark" "$policy"; then
        printf '#!/bin/sh\n%s\nexit 101\n' "$mark" | $as_root tee "$policy" >/dev/null
        $as_root chmod 755 "$policy"
    fi
}
allow() {
    if [ -e "$policy" ] && grep -qxF "$mark" "$policy"; then $as_root rm -f "$policy"; fi
}
profilers=""
for profiler in xdebug excimer; do
    case " $* " in *" php-$profiler "*) profilers="$profilers $profiler" ;; esac
done
before=$(units)
trap allow EXIT
trap 'exit 1' HUP INT TERM
forbid

# Nothing of the user's is removed for it: apt-get then names what is in the way.
# shellcheck disable=SC2086 # the command is meant to be split
install() { $as_root $command "$@" >&2; }
# Package lists may be old or absent on a new machine: fetch them once and try again.
install "$@" || {
    $as_root apt-get update -q >&2
    install "$@"
}
# The file keeps services from being started now, not from being enabled for the next start of the machine: those that are new are disabled.
for unit in $(units); do
    if ! printf '%s\n' "$before" | grep -qxF "$unit"; then
        $as_root systemctl disable --quiet --now "$unit" 2>/dev/null || true
    fi
done
# A profiler that was just installed is enabled for every PHP and slows all of them; `weigh profile` loads it where it is needed.
if [ -n "$profilers" ] && command -v phpdismod >/dev/null 2>&1; then
    # shellcheck disable=SC2086 # a list of modules, too
    $as_root phpdismod $profilers >&2
fi
