#!/bin/bash
# Runs one program of the kernel's selftests: `selftests.sh net:veth.sh`, in the folder that they are installed in.
set -eu -o pipefail

# Programs write where they lie, and the folder that a lab works in cannot be written to.
laid_over() {
    local memory=/run/selftests$1
    mkdir -p "$memory/upper" "$memory/work"
    mount -t overlay -o "lowerdir=$1,upperdir=$memory/upper,workdir=$memory/work" overlay "$1"
}

# As on any distribution, modprobe is told what the kernel has built in, and so loads it by doing nothing.
tell_modprobe() {
    local folder
    folder=/usr/lib/modules/$(uname -r)
    laid_over /usr/lib
    mkdir -p "$folder"
    join <(zcat /proc/config.gz | sed -n 's/=y$//p' | sort) modules.txt | cut -d ' ' -f 2 >"$folder/modules.builtin"
    : >"$folder/modules.order"
    # What modinfo reads: "vrf.file=kernel/drivers/net/vrf", and a zero byte.
    sed 's|\.ko$||; s|\(.*\)/\(.*\)|\2.file=\1/\2|' "$folder/modules.builtin" | tr '\n' '\0' \
        >"$folder/modules.builtin.modinfo"
    depmod
}

# No udev names devices here, so that there is none to wait for; and of two programs of that name Debian prefers the
# traceroute6 of ndisc6, which does not know what the kernel's tests ask of it.
prefer_programs() {
    mkdir bin
    ln -s /usr/bin/true bin/udevadm
    ln -s /usr/bin/traceroute6.db bin/traceroute6
    PATH=$PWD/bin:$PATH
}

# Four of fib_nexthops.sh's tests change routes as fast as they can for five minutes each: at 0.4 ms a program 750 000
# of them, hours of wall time. They go from its lists; all others are run.
leave_out_tortures() {
    sed -i '/^\t\w*_torture$/d' net/fib_nexthops.sh
}

laid_over "$PWD"
cd "$PWD"
prefer_programs
tell_modprobe
leave_out_tortures
./run_kselftest.sh -t "$1" 2>&1
