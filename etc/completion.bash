# Completion of rdma-pingmesh and rdma-pingmeshd for bash.

_rdma_pingmesh_devices()
{
	local path
	for path in /sys/class/infiniband/*; do
		[ -e "$path" ] && printf '%s\n' "${path##*/}"
	done
}

_rdma_pingmesh()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local word command="" words="" skip=""
	COMPREPLY=()

	# "--url=x" is three words to bash.
	[ "$cur" = "=" ] && cur=""
	[ "$prev" = "=" ] && prev=${COMP_WORDS[COMP_CWORD - 2]}
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case $word in
		--url|--control|--since|--cacert|--cert|--key|--login)	skip=1; continue ;;
		=)				continue ;;
		-*)				;;
		*)				[ -n "$skip" ] || command=${command:-$word} ;;
		esac
		skip=""
	done
	case $prev in
	--control|--cacert|--cert|--key|--login)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--url|--since)
		return
		;;
	esac
	case $cur in
	-*)	words="--json --url --control --cacert --cert --key --login --netrc --version --help"
		[ "$command" = events ] && words="$words --since --follow"
		;;
	*)	case $command in
		"")			words="status check peers devices events reload release acquire" ;;
		release|acquire)	words=$(_rdma_pingmesh_devices) ;;
		esac
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

_rdma_pingmeshd()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()

	[ "$cur" = "=" ] && cur=""
	[ "$prev" = "=" ] && prev=${COMP_WORDS[COMP_CWORD - 2]}
	case $prev in
	--config|--control|--sysfs-root|--state)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		;;
	--set)
		;;
	*)
		mapfile -t COMPREPLY < <(compgen -W "--config --control --set --state --sysfs-root \
			--check-config --print-config --print-plan --version --help" -- "$cur")
		;;
	esac
}

complete -F _rdma_pingmesh rdma-pingmesh
complete -F _rdma_pingmeshd rdma-pingmeshd
