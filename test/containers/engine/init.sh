#!/bin/sh
# The first process of the engine's namespaces: init.sh ROOT WORK COMMAND...
# It makes ROOT, a folder of unpacked packages, the root of the mount namespace. The folder WORK has
# the same path inside. The namespaces end when COMMAND ends.
set -e
root=$1 work=$2
shift 2
mkdir -p "$root$work" "$root/proc" "$root/sys" "$root/dev" "$root/run" "$root/before"
mount --bind "$root" "$root"
mount --bind "$work" "$root$work"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
# With both versions of cgroups mounted, an engine takes the second one, which has no controllers.
if mountpoint -q "$root/sys/fs/cgroup/unified"; then umount "$root/sys/fs/cgroup/unified"; fi
cd "$root"
pivot_root . before
cd /
umount -l /before
ip link set lo up
echo ready > "$work/ready"
exec tini-static -- "$@"
