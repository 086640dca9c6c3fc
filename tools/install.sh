#!/usr/bin/env bash
# Installs Heron: a folder that works wherever it is moved to. See usage below and "Install" in README.md.
set -euo pipefail
umask 022
export LC_ALL=C

usage() {
  cat <<'TXT'
usage: tools/install.sh PREFIX [--no-build | --built FOLDER]

Builds the engine and installs it into the folder PREFIX: bin/heron, its parts, headers, library, settings, examples. PREFIX may be
moved afterwards. An older installation there is replaced; topologies that run go on, they have copies of their own.
  --no-build        install what was built before
  --built FOLDER    the same, with what lies in FOLDER, laid out like bazel-bin
TXT
}
fail() { echo "install: $*" >&2; exit 1; }
bad_usage() { echo "install: $*" >&2; usage >&2; exit 2; }

prefix='' build=1 built=''
while [ $# -gt 0 ]; do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --no-build) build=0; shift ;;
    --built) [ $# -ge 2 ] || bad_usage "--built needs a folder"; build=0 built=$2; shift 2 ;;
    --built=*) build=0 built=${1#*=}; shift ;;
    -*) bad_usage "unknown option: $1" ;;
    *) [ -z "$prefix" ] || bad_usage "one PREFIX, please: '$prefix' or '$1'?"; prefix=$1; shift ;;
  esac
done
[ -n "$prefix" ] || bad_usage "where to? PREFIX is missing"
prefix=$(realpath -m -- "$prefix")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What is wrong with PREFIX is said before anything is built.
mark=share/heron/MANIFEST  # what an installation is known by: checksum and name of each of its files
parent=$(dirname "$prefix")
next=$parent/.$(basename "$prefix").heron-new
old=$parent/.$(basename "$prefix").heron-old
in_place=0
check_prefix() {
  [ ! -e "$prefix" ] || [ -d "$prefix" ] || fail "$prefix is a file; choose a folder"
  if [ -d "$prefix" ] && [ ! -f "$prefix/$mark" ]; then
    [ -r "$prefix" ] || fail "$prefix: no permission to read it"
    [ -z "$(ls -A "$prefix")" ] ||
      fail "$prefix is not empty and no Heron installation; choose a folder of its own, for example ${prefix%/}/heron"
  fi
  local existing=$parent
  while [ ! -e "$existing" ]; do existing=$(dirname "$existing"); done
  [ -d "$existing" ] || fail "$existing is a file, so $prefix cannot be a folder"
  if [ ! -w "$existing" ] || { [ -d "$prefix" ] && mountpoint -q "$prefix"; }; then
    # The folder itself cannot be exchanged; what is in it can, if it is ours.
    in_place=1
    next=$prefix/.heron-new old=$prefix/.heron-old
    [ -d "$prefix" ] || fail "no permission to write to $existing; become root, or choose a folder of yours, for example ~/heron"
    [ -w "$prefix" ] ||
      fail "no permission to write to $existing and $prefix; become root, or choose a folder of yours, for example ~/heron"
  fi
  [ ! -d "$prefix" ] || [ -w "$prefix" ] || fail "no permission to write to $prefix; become root, or choose a folder of yours"
}
# An installation that was broken off between its two renames.
if [ ! -e "$prefix" ] && [ -f "$old/$mark" ]; then mv -T -- "$old" "$prefix"; fi
check_prefix

if [ $build = 1 ]; then
  "$root/tools/setup.sh"
  . "$root/tools/build_engine.sh"
  echo "building (the first time takes some minutes)"
  # Which commit the tree is at, with a "+" when files differ from it; nothing where git does not know.
  if commit=$(git -C "$root" rev-parse --short=12 HEAD 2>/dev/null); then
    [ -z "$(git -C "$root" status --porcelain)" ] || commit=$commit+
  fi
  build_engine "$root" --stamp --embed_label="$commit" //tools:libheron
  built=$HERON_OUT
elif [ -z "$built" ]; then
  built=$(cd "$root" && bazel info --config=opt bazel-bin 2>/dev/null) || fail "bazel does not say where it builds; leave out --no-build"
  (cd "$root" && bazel shutdown) >/dev/null 2>&1
fi

executables=(heron/executor/heron-executor heron/topology_master/heron-topology-master
  heron/stream_manager/heron-stream-manager scheduler/local/heron-supervisor)
for file in tools/cli/heron tools/libheron.a tools/libheron.flags "${executables[@]}"; do
  [ -f "$built/$file" ] || fail "$built/$file is missing: it was not built; leave out --no-build"
done

mkdir -p -- "$parent" || fail "cannot make the folder $parent"
if [ $in_place = 1 ]; then exec 9<"$prefix"; else exec 9<"$parent"; fi
flock -n 9 || fail "another installation beside $prefix is under way"
rm -rf -- "$next"
trap 'rm -rf -- "$next"' EXIT
trap 'exit 130' INT TERM HUP

put() {  # put MODE FILE TARGET, below the new tree
  install -D -m "$1" -- "$2" "$next/$3"
}

# --- programs
put 755 "$built/tools/cli/heron" bin/heron
for file in "${executables[@]}"; do put 755 "$built/$file" "libexec/heron/${file##*/}"; done
strip --strip-debug "$next/bin/heron" "$next"/libexec/heron/*
version=$("$next/bin/heron" version | awk '{print $2}')
{ "$next/bin/heron" version; } >"$next/version" && install -D -m 644 "$next/version" "$next/share/heron/VERSION" && rm "$next/version"

# --- headers: what users include, and all that is included from there
declare -A included_by=()
queue=(heron/heron.h)
if [ -f "$root/heron/testing.h" ]; then queue+=(heron/testing.h); fi
if [ -f "$root/heron/protobuf.h" ]; then queue+=(heron/protobuf.h); fi
for header in "${queue[@]}"; do included_by[$header]='a user'; done
while [ ${#queue[@]} -gt 0 ]; do
  header=${queue[0]}
  queue=("${queue[@]:1}")
  [ -f "$root/$header" ] || fail "the public header $header, included by ${included_by[$header]}, is not in the tree"
  put 644 "$root/$header" "include/$header"
  while read -r kind name; do
    if [ "$kind" = '<' ]; then
      # Users have the standard library and POSIX; anything else they would have to install.
      [[ $name =~ ^[a-z_0-9]+$|^[a-z_0-9]+\.h$|^sys/[a-z_0-9]+\.h$ ]] || [[ $name = gtest/* || $name = gmock/* ]] ||
        [[ $header = heron/protobuf.h && $name = google/protobuf/* ]] ||
        fail "the public header $header includes <$name>, which users may not have"
    elif [ -z "${included_by[$name]:-}" ]; then
      included_by[$name]=$header
      queue+=("$name")
    fi
  done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*([<"])([^">]+)[">].*/\1 \2/p' "$root/$header")
done

# --- library, and how to link it
put 644 "$built/tools/libheron.a" lib/libheron.a
strip --strip-debug "$next/lib/libheron.a"
flags=$(<"$built/tools/libheron.flags")
mkdir -p "$next/lib/pkgconfig" "$next/lib/cmake/heron"
cat >"$next/lib/pkgconfig/heron.pc" <<TXT
prefix=\${pcfiledir}/../..
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: heron
Description: Stream processing engine
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lheron $flags
TXT
libraries=()
for flag in $flags; do libraries+=("${flag#-l}"); done
cat >"$next/lib/cmake/heron/heron-config.cmake" <<TXT
# find_package(heron) makes the target heron::heron.
get_filename_component(_heron_prefix "\${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET heron::heron)
  add_library(heron::heron STATIC IMPORTED)
  set_target_properties(heron::heron PROPERTIES
    IMPORTED_LOCATION "\${_heron_prefix}/lib/libheron.a"
    INTERFACE_INCLUDE_DIRECTORIES "\${_heron_prefix}/include"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES "$(IFS=';'; echo "${libraries[*]}")")
endif()
set(heron_EXECUTABLE "\${_heron_prefix}/bin/heron")
unset(_heron_prefix)
TXT
cat >"$next/lib/cmake/heron/heron-config-version.cmake" <<TXT
set(PACKAGE_VERSION "$version")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
TXT

# --- settings, examples, documentation, completion
files_below() { (cd "$root" && find -L "$1" -type f ! -name BUILD | sort); }
while read -r file; do put 644 "$root/$file" "share/heron/$file"; done < <(files_below config)
while read -r file; do put 644 "$root/$file" "share/heron/$file"; done < <(files_below examples)
while read -r file; do put 644 "$root/$file" "share/doc/heron/$file"; done < <(
  files_below heron/docs
  printf '%s\n' README.md tools/cli/README.md
)
mkdir -p "$next/share/bash-completion/completions" "$next/share/zsh/site-functions"
"$next/bin/heron" completion bash >"$next/share/bash-completion/completions/heron"
"$next/bin/heron" completion zsh >"$next/share/zsh/site-functions/_heron"

# --- what is not ours, or was changed, in the older installation
list() { (cd "$1" && find . \( -type f -o -type l \) ! -path './.heron-*' | sed 's,^\./,,' | sort); }
(cd "$next" && find . -type f | sed 's,^\./,,' | sort | grep -v "^$mark$" | xargs -d '\n' sha256sum) >"$next.manifest"
mv -- "$next.manifest" "$next/$mark"
if [ -f "$prefix/$mark" ]; then
  while read -r file; do
    [ "$file" != "$mark" ] || continue
    was=$(awk -v f="$file" 'substr($0, 67) == f {print $1}' "$prefix/$mark")
    case $file in
      share/heron/config/*)
        if [ -n "$was" ] && [ "$(sha256sum <"$prefix/$file")" = "$was  -" ]; then continue; fi
        if [ -e "$next/$file" ] && ! cmp -s "$prefix/$file" "$next/$file"; then
          mv -- "$next/$file" "$next/$file.new"
          echo "install: kept your $prefix/$file; the new one is beside it, $(basename "$file").new"
        fi
        ;;
      *) if [ -n "$was" ] || [ -e "$next/$file" ]; then continue; fi ;;
    esac
    mkdir -p -- "$next/$(dirname "$file")"
    cp -a -- "$prefix/$file" "$next/$file"
  done < <(list "$prefix")
fi

# --- exchange
rm -rf -- "$old"
trap '' INT TERM HUP
exchange() {  # exchange FROM TO OLD
  if [ -e "$2" ]; then mv -T -- "$2" "$3"; fi
  mv -T -- "$1" "$2" || { [ ! -e "$3" ] || mv -T -- "$3" "$2"; fail "cannot put $2 into place"; }
}
if [ $in_place = 0 ]; then
  exchange "$next" "$prefix" "$old"
else
  mkdir "$old"
  for entry in "$next"/*; do exchange "$entry" "$prefix/${entry##*/}" "$old/${entry##*/}"; done
fi
rm -rf -- "$old"
cat <<TXT
installed $("$prefix/bin/heron" version) in $prefix. Next:
  export PATH=$prefix/bin:\$PATH
  heron doctor
  heron new my-topology
TXT
