#!/usr/bin/env bash
# For bazel build --stamp --workspace_status_command=tools/workspace_status.sh: which commit the tree is at, with a "+" when
# files differ from it.
cd "$(dirname "$0")/.." || exit 1
commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || exit 0
[ -z "$(git status --porcelain 2>/dev/null)" ] || commit=$commit+
echo "BUILD_SCM_REVISION $commit"
