#!/usr/bin/env bash
# A step of action.yml: writes the file MARKDOWN as a comment on PULL_REQUEST of REPOSITORY; the comment of an earlier run is
# replaced. A token that may not comment, as that of a fork, is no failure: the summary of the job has the same text.
set -euo pipefail
marker='<!-- weigh compare -->'
body=$(mktemp)
trap 'rm -f "$body"' EXIT
{
    echo "$marker"
    # The longest comment is 65,536 characters.
    head -c 60000 "$MARKDOWN" | iconv -c -f UTF-8 -t UTF-8
} >"$body"
comments="repos/$REPOSITORY/issues/$PULL_REQUEST/comments"
earlier=$(gh api --paginate "$comments" --jq ".[] | select(.body | startswith(\"$marker\")) | .id" | head -n 1) || earlier=
if [ -n "$earlier" ]; then
    gh api --method PATCH "repos/$REPOSITORY/issues/comments/$earlier" --field "body=@$body" >/dev/null ||
        echo "::warning::the comment cannot be changed; see the summary of this job"
else
    gh api --method POST "$comments" --field "body=@$body" >/dev/null ||
        echo "::warning::no permission to comment; see the summary of this job"
fi
