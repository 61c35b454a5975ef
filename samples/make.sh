#!/bin/sh
# make.sh: builds the tracer and the sample programs, runs them, stores archives.
#
#   make.sh                    the archives of this folder (samples/archives)
#   make.sh build DIR          tracer and programs only, into DIR
#   make.sh archive NAME DIR   one of the archives, into DIR/NAME
#   make.sh study DIR [P...]   sweep at several process counts (default 2 4 6 8)
#   make.sh bench DIR [P [REPEAT [MAXBYTES]]]   the trace for `tracekit fit`
#   make.sh check [ARCHIVE...] prints and checks them with otf2-print (otf2-tools)
#
# Needs a C compiler, an MPI with mpicc and mpirun, and the OTF2 library; on
# Debian: apt install gcc libopenmpi-dev openmpi-bin libopen-trace-format2-dev
# (libmpich-dev and mpich do as well). Existing archives are replaced.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
MPICC=${MPICC:-mpicc}
MPIRUN=${MPIRUN:-mpirun}
programs="ring halo2d sweep masterworker zoo torus mpibench"

# need says what is missing, before anything is built.
need() {
    for tool in "$MPICC" "$MPIRUN"; do
        command -v "$tool" >/dev/null || { echo "make.sh: no $tool; see the head of this file" >&2; exit 1; }
    done
    printf '#include <otf2/otf2.h>\nint main(void) { return 0; }\n' >"$build/need.c"
    "$MPICC" -o "$build/need" "$build/need.c" -lopen-trace-format2 ||
        { echo "make.sh: no OTF2 library; see the head of this file" >&2; exit 1; }
    rm -f "$build/need" "$build/need.c"
}

# build makes everything in $build. Programs are compiled in their own folder,
# so that the traces name "ring.c" and no path of this machine.
build() {
    need
    "$MPICC" -std=gnu11 -O2 -Wall -Wextra -fPIC -shared -o "$build/libotf2pmpi.so" \
        "$here"/tracer/*.c -lopen-trace-format2 -lm -lpthread
    for p in $programs; do
        (cd "$here/programs" && "$MPICC" -std=gnu11 -O2 -Wall -Wextra -I../tracer -o "$build/$p" "$p.c" -ldl)
    done
}

# run P DIR PROGRAM [ARGUMENT...] traces one program on P processes into DIR.
run() {
    processes=$1 dir=$2 program=$3
    shift 3
    rm -rf "$dir"
    case $("$MPIRUN" --version 2>&1 | head -1) in
    *"Open MPI"* | *open-mpi*)
        options="--oversubscribe --allow-run-as-root --mca btl self,vader --mca mpi_yield_when_idle 1
                 --mca btl_vader_single_copy_mechanism none" ;;
    *) options="" ;;
    esac
    # shellcheck disable=SC2086 # options are words
    (cd "$build" && TRACEKIT_DIR="$dir" TRACEKIT_HOST="${TRACEKIT_HOST:-node0}" \
        "$MPIRUN" $options -n "$processes" env LD_PRELOAD="$build/libotf2pmpi.so" "./$program" "$@")
}

# archive NAME DIR makes one stored archive; sizes are in README.md.
archive() {
    case $1 in
    ring-4) run 4 "$2/$1" ring 40 ;;
    ring-4-plain) TRACEKIT_CALLSITES=0 run 4 "$2/$1" ring 10 ;;
    halo2d-8) TRACEKIT_SKEW=3000000,20 run 8 "$2/$1" halo2d 40 ;;
    sweep-6) run 6 "$2/$1" sweep 48 8 3 ;;
    masterworker-4) run 4 "$2/$1" masterworker 96 ;;
    zoo-4) run 4 "$2/$1" zoo 3 ;;
    torus-6) run 6 "$2/$1" torus 10 ;;
    *) echo "make.sh: no archive $1" >&2; exit 2 ;;
    esac
}

# check ARCHIVE fails if otf2-print complains or the events do not fit together.
check() {
    for way in -G --show-clock-offsets; do
        otf2-print $way "$1/traces.otf2" >/dev/null 2>"$build/complaints"
        [ ! -s "$build/complaints" ] || { cat "$build/complaints"; return 1; }
    done
    otf2-print "$1/traces.otf2" >"$build/listing" 2>"$build/complaints"
    [ ! -s "$build/complaints" ] || { cat "$build/complaints"; return 1; }
    awk -v name="$(basename "$1")" -f "$here/tracer/check.awk" "$build/listing"
}

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT INT TERM

# whole DIR prints DIR, made if need be, as an absolute path.
whole() { mkdir -p "$1" && (cd "$1" && pwd); }

case ${1:-all} in
all)
    build
    to=$(whole "$here/archives")
    for a in ring-4 ring-4-plain halo2d-8 sweep-6 masterworker-4 zoo-4 torus-6; do archive "$a" "$to"; done
    ;;
build)
    rm -rf "$build"
    build=$(whole "$2")
    trap - EXIT INT TERM
    build
    ;;
archive)
    to=$(whole "$3")
    build
    archive "$2" "$to"
    ;;
study)
    to=$(whole "$2")
    shift 2
    build
    [ $# -gt 0 ] || set -- 2 4 6 8
    for p; do run "$p" "$to/sweep-$p" sweep "${SWEEP_N:-96}" "${SWEEP_K:-8}" "${SWEEP_ITERATIONS:-10}"; done
    ;;
bench)
    to=$(whole "$2")
    build
    p=${3:-2}
    run "$p" "$to/mpibench-$p" mpibench "${4:-200}" "${5:-4000000}"
    ;;
check)
    shift
    [ $# -gt 0 ] || set -- "$here"/archives/*
    for a; do check "$a"; done
    ;;
*)
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
    ;;
esac
