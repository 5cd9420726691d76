#!/usr/bin/env bash
# A step of action.yml: runs the study. STUDY is its name or file, ARGUMENTS are further ones, one per line.
# Its own gates are judged here already; whether the job fails is for the last step to say.
set -euo pipefail
arguments=()
while IFS= read -r line; do
    [ -z "$line" ] || arguments+=("$line")
done <<<"${ARGUMENTS:-}"
code=0
weigh run "${arguments[@]}" -- "$STUDY" || code=$?
case $code in
    0 | 3 | 4 | 5) ;;
    *) exit "$code" ;;
esac
echo "code=$code" >>"$GITHUB_OUTPUT"
