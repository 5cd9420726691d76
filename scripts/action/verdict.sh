#!/usr/bin/env bash
# A step of action.yml: fails if the comparison did. CODE is its exit code, UNDECIDED says what an undecided gate does.
set -euo pipefail
case ${CODE:-0} in
    0) ;;
    5)
        [ "${UNDECIDED:-fail}" != pass ] || exit 0
        echo "::error::a gate is undecided: its interval holds the limit"
        exit 5
        ;;
    *)
        echo "::error::worse than the baseline or a gate allows"
        exit "$CODE"
        ;;
esac
