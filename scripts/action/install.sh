#!/usr/bin/env bash
# A step of action.yml: weigh on the PATH of the steps that follow. One that is there is used; otherwise it is built from the
# action's own sources, which takes minutes: a workflow may install it before, or cache its folder.
set -euo pipefail
if command -v weigh >/dev/null; then
    weigh --version
    exit 0
fi
cargo install --locked --quiet --path "$GITHUB_ACTION_PATH/crates/cli" --root "$RUNNER_TEMP/weigh"
echo "$RUNNER_TEMP/weigh/bin" >>"$GITHUB_PATH"
"$RUNNER_TEMP/weigh/bin/weigh" --version
