# shellcheck shell=bash
# Start and end the processes of one lab: a switch per rail, a QEMU per host, the SSH connections.
# Sourced after common.sh and ssh.sh, with lab_paths called.

max_hosts=16
# What udev would load for hardware that QEMU shows and nobody uses.
unused_modules=kvm,kvm_amd,kvm_intel,floppy,psmouse,pcspkr,i2c_piix4,fuse,loop,aesni_intel
unused_modules+=,sha512_ssse3,sha256_ssse3,sha1_ssse3,ghash_clmulni_intel,serio_raw,evdev

start_switches()
{
	local rail

	for ((rail = 0; rail < rails; rail++)); do
		vde_switch -daemon -numports 32 -sock "$socks/rail$rail" -mgmt "$socks/rail$rail.mgmt" \
			-mode 600 -pidfile "$socks/rail$rail.pid" > "$run/rail$rail.log" 2>&1 ||
			die "the fabric's switch did not start; its log is $run/rail$rail.log"
	done
}

# Kernel options: without them a guest under emulation spends seconds on calibrating clocks, on
# crypto self-tests and on mitigations that protect nobody here.
# tsc_khz is what the guests take for the rate of their clock; empty: they have to measure it.
kernel_options()
{
	printf '%s ' root=/dev/vda rw console=ttyS0 loglevel=4 systemd.show_status=false \
		mitigations=off no_timer_check tsc=reliable cryptomgr.notests no5lvl random.trust_cpu=on \
		"module_blacklist=$unused_modules" net.ifnames=0 audit=0 selinux=0 apparmor=0 \
		"systemd.hostname=host$1" "lab.id=$1" "lab.hosts=$hosts" "lab.rails=$rails" \
		${tsc_khz:+"tsc_early_khz=$tsc_khz"}
}

start_guest()
{
	local id=$1 dir=$run/host$1 rail nics=() words

	mkdir -p "$dir"
	for ((rail = 0; rail < rails; rail++)); do
		nics+=(-netdev "vde,id=rail$rail,sock=$socks/rail$rail")
		nics+=(-device "virtio-net-pci,netdev=rail$rail,romfile=,$(mac_of "$rail" "$id")")
	done
	words=(qemu-system-x86_64 -name "host$id" -M pc -nodefaults -no-user-config -display none \
		-accel tcg -cpu max -smp 1 -m "$memory" \
		-kernel "$boot/vmlinuz-$kernel" -initrd "$boot/initrd-$kernel" \
		-append "$(kernel_options "$id")" \
		-serial "file:$dir/console.log" -monitor "unix:$socks/host$id.monitor,server,nowait" \
		-drive "if=none,id=disk,file=$image,format=raw,snapshot=on,cache=unsafe" \
		-device virtio-blk-pci,drive=disk \
		"${nics[@]}" \
		-netdev "user,id=mgmt,restrict=on,ipv6=off,$(forwards "$id")" \
		-device "virtio-net-pci,netdev=mgmt,romfile=,$(mac_of 99 "$id")" \
		-daemonize -pidfile "$socks/host$id.pid")
	# Kept, so that a guest that was powered off can be started again.
	printf '%q ' "${words[@]}" > "$dir/qemu.command"
	run_guest "$id"
}

run_guest()
{
	local id=$1 dir=$run/host$1

	: > "$dir/console.log" # what an earlier life of it said must not be taken for news
	# TMPDIR: what the guest writes to its disk goes to an unnamed file there.
	TMPDIR=$run bash "$dir/qemu.command" > "$dir/qemu.log" 2>&1 ||
		die "host$id did not start: $(tail -n 1 "$dir/qemu.log") (log: $dir/qemu.log)"
}

boot_timeout_s=240

# Until the guest has its fabric and takes commands; the time began when $started says.
wait_booted()
{
	local id=$1 console=$run/host$1/console.log

	while ! grep -qs LAB-READY "$console"; do
		! grep -qs LAB-FAILED "$console" || die "host$id: setting up the fabric failed; console: $console"
		kill -0 "$(cat "$socks/host$id.pid")" 2>/dev/null ||
			die "host$id: its QEMU ended; logs: $run/host$id/qemu.log, $console"
		[ $SECONDS -lt $((started + boot_timeout_s)) ] ||
			die "host$id did not boot in $boot_timeout_s s; console: $console"
		sleep 0.2
	done
}

mac_of() { printf 'mac=52:54:00:99:%02d:%02x\n' "$1" "$2"; }

# The SSH port is any free one: QEMU picks it and is asked for it later.
forwards()
{
	printf 'hostfwd=tcp:127.0.0.1:%d-:10479,hostfwd=tcp:127.0.0.1:0-:22\n' $((port_base + $1))
}

# A kernel that boots on a busy machine may measure its processor's clock many times too slow, and
# then its time runs away: by a minute while it boots. Right is what differs by the second that the
# hardware clock does not tell.
clock_is_right()
{
	local guest here

	guest=$(guest_ssh "host$1" date +%s < /dev/null) && here=$(date +%s) || return 1
	[ $((guest - here)) -le 3 ] && [ $((here - guest)) -le 3 ]
}

# A guest that was started, until it can be used.
await_guest()
{
	local id=$1 tries

	for ((tries = 0; tries < 4; tries++)); do
		wait_booted "$id"
		connect_guest "$id"
		! clock_is_right "$id" || return 0
		say "host$id: its clock runs wrong; booting it again"
		kill_guest "$id"
		run_guest "$id"
	done
	die "host$id: its clock runs wrong after each of $tries boots: is this machine overloaded?"
}

# No shutdown: it is as if its power were cut.
kill_guest()
{
	local pid tries

	pid=$(cat "$socks/host$1.pid")
	kill -KILL "$pid" 2>/dev/null || return 1
	# Its connection for commands sees the end too; a new one is made when it is back.
	for ((tries = 0; tries < 50; tries++)); do
		! kill -0 "$pid" 2>/dev/null && [ ! -e "$socks/host$1.ssh" ] && break
		sleep 0.1
	done
	rm -f "$socks/host$1.ssh" "$socks/host$1.monitor"
}

# Processes of this lab, by what only they can have on their command line.
lab_pids()
{
	local cmdline pid

	for cmdline in $(grep -lsaF "$socks/" /proc/[0-9]*/cmdline); do
		pid=${cmdline#/proc/}
		pid=${pid%/cmdline}
		case $(cat "/proc/$pid/comm" 2>/dev/null) in
		qemu-system*|vde_switch|ssh)	printf '%s\n' "$pid" ;;
		esac
	done
}

stop_lab()
{
	local pids tries

	mapfile -t pids < <(lab_pids)
	if [ "${#pids[@]}" -gt 0 ]; then
		kill -KILL "${pids[@]}" 2>/dev/null || true
		for ((tries = 0; tries < 50; tries++)); do
			kill -0 "${pids[@]}" 2>/dev/null || break
			sleep 0.1
		done
	fi
	rm -rf "$socks"
}
