#include "probes/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/socket.h>

#define TYPE_MASK 0xf /* of a socket's type, without SOCK_CLOEXEC and SOCK_NONBLOCK */

/* By name: not every machine has all of them. */
static const char *const refused[] = {
	/* programs and processes; threads are let through below */
	"execve",
	"execveat",
	"fork",
	"vfork",
	"ptrace",
	"process_vm_readv",
	"process_vm_writev",
	"pidfd_open",
	"pidfd_getfd",
	"pidfd_send_signal",
	"kill",
	/* connections */
	"listen",
	"accept",
	"accept4",
	/* files */
	"creat",
	"truncate",
	"ftruncate",
	"unlink",
	"unlinkat",
	"rename",
	"renameat",
	"renameat2",
	"link",
	"linkat",
	"symlink",
	"symlinkat",
	"mkdir",
	"mkdirat",
	"rmdir",
	"mknod",
	"mknodat",
	"chmod",
	"fchmod",
	"fchmodat",
	"chown",
	"fchown",
	"lchown",
	"fchownat",
	"setxattr",
	"lsetxattr",
	"fsetxattr",
	"chroot",
	"pivot_root",
	"mount",
	"umount2",
	"open_tree",
	"move_mount",
	"fsopen",
	"fsmount",
	/* other ways around, and wide surfaces of the kernel */
	"setns",
	"unshare",
	"bpf",
	"perf_event_open",
	"userfaultfd",
	"io_uring_setup",
	"io_uring_enter",
	"io_uring_register",
	"add_key",
	"keyctl",
	"request_key",
};

/* Calls of other architectures than ours are ended by libseccomp's default: refused too. */
static int refuse_by_name(scmp_filter_ctx ctx)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		int number = seccomp_syscall_resolve_name(refused[i]);
		int r;

		if (number == __NR_SCMP_ERROR)
			continue;
		r = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), number, 0);
		/* Negative: it is known, but this machine does not have it. */
		if (r < 0 && number >= 0)
			return r;
	}
	return 0;
}

static int refuse_masked(scmp_filter_ctx ctx, const char *name, unsigned arg, scmp_datum_t mask,
			 scmp_datum_t value)
{
	int number = seccomp_syscall_resolve_name(name);
	int r = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), number, 1,
				 SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, mask, value));

	return r < 0 && number >= 0 ? r : 0;
}

/* clone3 and openat2 have their flags in memory, where a filter cannot look: "not there" makes libc
 * fall back to the calls whose flags can be seen. */
static int refuse_unseen(scmp_filter_ctx ctx, const char *name)
{
	int number = seccomp_syscall_resolve_name(name);

	return number < 0 ? 0 : seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), number, 0);
}

static int add_rules(scmp_filter_ctx ctx)
{
	int r = refuse_by_name(ctx);

	/* A process that is no thread of this one. */
	if (r == 0)
		r = refuse_masked(ctx, "clone", 0, CLONE_THREAD, 0);
	if (r == 0)
		r = refuse_masked(ctx, "open", 1, O_CREAT, O_CREAT);
	if (r == 0)
		r = refuse_masked(ctx, "openat", 2, O_CREAT, O_CREAT);
	if (r == 0)
		r = refuse_unseen(ctx, "clone3");
	if (r == 0)
		r = refuse_unseen(ctx, "openat2");
	for (int family = AF_INET; r == 0 && family <= AF_INET6; family += AF_INET6 - AF_INET)
		r = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 2,
				     SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)family),
				     SCMP_A1(SCMP_CMP_MASKED_EQ, TYPE_MASK, SOCK_STREAM));
	return r;
}

int sandbox_enter(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int r;

	if (!ctx)
		return -ENOMEM;
	/* A tree, not a list: every call of the process goes through it. */
	seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	r = add_rules(ctx);
	if (r == 0)
		r = seccomp_load(ctx);
	seccomp_release(ctx);
	return r;
}
