#!/usr/bin/env bash
# A step of action.yml: the baseline's name, from that of a branch. BASE is the branch; the output is `baseline`.
set -euo pipefail
name=$(printf '%s' "$BASE" | LC_ALL=C tr -c 'A-Za-z0-9._-' '-' | cut -c1-70)
echo "baseline=b-$name" >>"$GITHUB_OUTPUT"
