# shellcheck shell=bash
# Commands in a guest, over one SSH connection a host that stays open: a command then costs one
# round trip and no key exchange. Sourced after common.sh, with lab_paths called.

ssh_port()
{
	"$python" "$top/lab/lib/monitor.py" "$socks/host$1.monitor" "info usernet" |
		awk '$1 == "TCP[HOST_FORWARD]" && $6 == 22 { print $4 }'
}

# The connection is not the caller's: it outlives lab/up and ends with lab/down or the guest.
connect_guest()
{
	local id=$1 port tries

	port=$(ssh_port "$id")
	[ -n "$port" ] || die "host$id: QEMU does not tell the port of its SSH"
	for ((tries = 0; tries < 40; tries++)); do
		if ssh -F /dev/null -f -N -M -o ControlPath="$socks/host$id.ssh" -o ControlPersist=no \
			-o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
			-o ConnectTimeout=30 -o ServerAliveInterval=0 -i "$cache/ssh-key" -p "$port" \
			root@127.0.0.1 > "$run/host$id/ssh.log" 2>&1 < /dev/null; then
			return 0
		fi
		sleep 0.5
	done
	die "host$id is booted but takes no SSH connection; log: $run/host$id/ssh.log"
}

# Fails unless HOST is one of this lab; opens its connection again if the guest was rebooted.
check_host()
{
	[[ $1 =~ ^host[1-9][0-9]?$ ]] || die "'$1' is not a host of the lab: say host1, host2, ..."
	[ -f "$socks/$1.pid" ] || die "no lab with $1 is up at port base $port_base: run lab/up first"
	kill -0 "$(cat "$socks/$1.pid")" 2>/dev/null || die "$1 is off: its QEMU has ended"
	[ -S "$socks/$1.ssh" ] || connect_guest "${1#host}"
}

guest_ssh()
{
	local host=$1

	shift
	ssh -F /dev/null -o LogLevel=ERROR -o ControlPath="$socks/$host.ssh" -o ControlMaster=no -o BatchMode=yes \
		-o ProxyCommand=false "root@$host" "$@"
}
