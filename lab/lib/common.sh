# shellcheck shell=bash
# What the lab's commands share: places, messages, options. Sourced, never run.

# shellcheck disable=SC2034 # used by those who source this
{
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=$top/build/lab
# Debian's own python3: one found earlier in PATH may lack Debian's modules.
python=/usr/bin/python3
# Debian keeps mke2fs and debugfs in sbin, which a user's PATH may lack.
PATH=$PATH:/usr/sbin:/sbin
default_port_base=10480
}
# The daemons of the guests are asked here, and never by way of a proxy.
export no_proxy="${no_proxy:+$no_proxy,}127.0.0.1,localhost"

# Who speaks: a script that sources this may say so first.
me=${me:-lab}
say() { printf '%s: %s\n' "$me" "$*" >&2; }

die()
{
	printf '%s: error: %s\n' "$me" "$*" >&2
	exit 1
}

usage_error()
{
	printf 'usage: %s\n' "$1" >&2
	exit 64
}

# What the script says about itself in its first lines.
show_help()
{
	sed -n '2,/^[^#]/{ /^#/s/^# \{0,1\}//p }' "$0"
	exit 0
}

is_number()
{
	[[ $1 =~ ^[1-9][0-9]{0,4}$ ]]
}

# A lab is known by its port base on the whole machine. Its disks and logs stay in the tree's cache;
# its sockets need a short path (a UNIX socket's name is limited to 107 bytes).
lab_paths()
{
	port_base=$1
	run=$cache/run-$port_base
	socks=/tmp/rdma-pingmesh-lab.$(id -u).$port_base
}

# Takes --port-base N from before the other arguments and leaves those in rest.
take_port_base()
{
	local usage=$1 base=${LAB_PORT_BASE:-$default_port_base}

	shift
	if [ "${1:-}" = --port-base ]; then
		[ $# -ge 2 ] || usage_error "$usage"
		base=$2
		shift 2
	fi
	check_port_base "$base"
	lab_paths "$base"
	rest=("$@")
}

# 100 ports are left above it for the hosts.
check_port_base()
{
	is_number "$1" && [ "$1" -ge 1024 ] && [ "$1" -le 65435 ] ||
		die "port base '$1': it must be a number from 1024 to 65435"
}

# A directory for one build, $work, that goes away with the script that asked for it.
make_work()
{
	mkdir -p "$cache"
	work=$(mktemp -d "$cache/work.XXXXXX")
	chmod 755 "$work"
	trap 'rm -rf "$work"' EXIT
}

# A shell cannot trap an interrupt that was ignored when it began, as it is for "./demo &" in a
# script: begin anew without that.
honour_interrupts()
{
	[ -n "${LAB_INTERRUPTS:-}" ] || LAB_INTERRUPTS=1 exec env --default-signal=INT bash "$0" "$@"
}

# Run a long step so that a signal to this script is served at once: bash runs no trap while a
# child is in the foreground. A trap on EXIT must call end_step.
step_pid=""
run_step()
{
	local rc=0

	"$@" &
	step_pid=$!
	wait "$step_pid" || rc=$?
	step_pid=""
	return "$rc"
}

end_step()
{
	if [ -n "$step_pid" ]; then
		end_tree "$step_pid"
		wait "$step_pid" 2>/dev/null || true
	fi
}

# Leaves first, so that every script on the way sees its child fail and cleans up.
end_tree()
{
	local child

	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		end_tree "$child"
	done
	kill -TERM "$1" 2>/dev/null || true
}
