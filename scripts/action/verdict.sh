#!/usr/bin/env bash
# A step of action.yml: fails if the run or the comparison did. RUN and COMPARED are their exit codes, empty for none; UNDECIDED
# says what an undecided gate does.
set -euo pipefail
codes=" ${RUN:-0} ${COMPARED:-0} "
fail() {
    echo "::error::$2"
    exit "$1"
}
case $codes in
    *" 4 "*) fail 4 "worse than the baseline or a gate allows" ;;
    *" 3 "*) fail 3 "some configurations failed; see the output of the run" ;;
    *" 5 "*) [ "${UNDECIDED:-fail}" = pass ] || fail 5 "a gate is undecided: its interval holds the limit" ;;
esac
