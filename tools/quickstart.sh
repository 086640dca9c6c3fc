#!/usr/bin/env bash
# The main job in one command: sets up, builds, and counts the words of a text with real processes.
set -euo pipefail

usage() {
  cat <<'TXT'
usage: tools/quickstart.sh [--input FILE] [--output FILE] [--parallelism P] [--containers C]

Counts the words of FILE (default: /usr/share/common-licenses/GPL-3) with the topology examples/wordcount on the local
cluster and writes lines "word<TAB>count", most frequent first, to the output (default: ./wordcount.tsv). Paths are relative to
the folder where you call it.
  --parallelism P   tasks of spout, split and count each (default 2)
  --containers C    containers (default 2)
TXT
}
fail() { echo "quickstart: $*" >&2; exit 1; }
bad_usage() { echo "quickstart: $*" >&2; usage >&2; exit 2; }

input=/usr/share/common-licenses/GPL-3
output=wordcount.tsv
parallelism=2
containers=2
while [ $# -gt 0 ]; do
  case $1 in
    --input=* | --output=* | --parallelism=* | --containers=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
  esac
  case $1 in
    --help | -h) usage; exit 0 ;;
    --input | --output | --parallelism | --containers)
      [ $# -ge 2 ] || bad_usage "$1 needs a value"
      declare "${1#--}=$2"
      shift 2
      ;;
    *) bad_usage "unknown argument: $1" ;;
  esac
done
for n in parallelism containers; do
  [[ ${!n} =~ ^[1-9][0-9]{0,3}$ ]] || bad_usage "--$n must be a whole number from 1 to 9999, not '${!n}'"
done
[[ $input = /* ]] || input=$PWD/$input
[[ $output = /* ]] || output=$PWD/$output

# What is wrong with the paths is said before anything is built.
[ -e "$input" ] || fail "input $input: no such file"
[ -d "$input" ] && fail "input $input: is a folder, not a file"
[ -f "$input" ] || fail "input $input: is not a regular file (a pipe or device cannot be split among tasks)"
[ -r "$input" ] || fail "input $input: permission denied"
[ -d "$output" ] && fail "output $output: is a folder"
[ -d "$(dirname "$output")" ] || fail "output $output: the folder $(dirname "$output") does not exist"
[ -w "$(dirname "$output")" ] || fail "output $output: the folder $(dirname "$output") is not writable"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/tools/setup.sh"
. "$root/tools/build_engine.sh"
echo "building (the first time takes some minutes)"
build_engine "$root" //examples/wordcount
heron=$HERON_BIN

name=quickstart-$$
cleanup() { "$heron" kill "$name" >/dev/null 2>&1 || true; }
trap cleanup EXIT
trap 'echo "quickstart: interrupted; ending $name" >&2; exit 130' INT TERM HUP

"$heron" submit local "$HERON_OUT/examples/wordcount/wordcount" "$name" --wait=finished --containers "$containers" \
  --parallelism lines="$parallelism" --parallelism split="$parallelism" --parallelism count="$parallelism" \
  -- "$input" "$output" || fail "the word count did not finish; see above"
[ -f "$output" ] || fail "the word count finished without writing $output"

echo
echo "the most frequent words of $input:"
head -n 10 "$output" | awk -F'\t' '{printf "%10d  %s\n", $2, substr($1, 1, 60)}'
echo "all $(wc -l <"$output") words: $output"
