#!/usr/bin/env bash
# A step of action.yml: compares the newest run with BASELINE, by the gates in the file GATES if there is one.
# Outputs: `code`, `markdown` and `junit`; none without a baseline. What went wrong ends the job; what got worse does not yet.
set -euo pipefail
if [ ! -d "weigh-runs/baselines/$BASELINE" ]; then
    echo "no baseline $BASELINE yet: a push to the base branch makes one"
    exit 0
fi
folder=${RUNNER_TEMP:-/tmp}
markdown=$folder/weigh-comparison.md junit=$folder/weigh-gates.xml
arguments=(--baseline "$BASELINE" --format markdown --out "$markdown" --junit "$junit")
[ -z "${GATES:-}" ] || arguments+=(--gates "$GATES")
code=0
weigh compare latest "${arguments[@]}" || code=$?
case $code in
    0 | 4 | 5) ;;
    *) exit "$code" ;;
esac
cat "$markdown" >>"$GITHUB_STEP_SUMMARY"
{
    echo "code=$code"
    echo "markdown=$markdown"
    echo "junit=$junit"
} >>"$GITHUB_OUTPUT"
