// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a lab could ask of its host whose kernel has been taken over: this is started as the kernel is, in the
 * jail, and asks natively. Each line of results/stdout is the name of an attempt and the errno it got, or 0.
 *
 * The arguments are such that an attempt which is let through does no harm and gets another answer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *answers;

static void tell(const char *name, long answer)
{
	fprintf(answers, "%s %d\n", name, answer < 0 ? errno : 0);
	errno = 0;
}

#define TRY(name, ...) tell(name, syscall(__VA_ARGS__))

static void files(void)
{
	char target[4096];
	/* Of a test's machine, or in the current folder of `wirelab exec`. */
	FILE *list = fopen("plan/files", "r") ?: fopen("work/files", "r");
	char how[16], path[4096];
	struct flock lock = { .l_type = F_RDLCK };

	while (list && fscanf(list, "%15s %4095s", how, path) == 2) {
		char name[5000];
		int fd = -1;

		snprintf(name, sizeof(name), "%s:%s", how, path);
		if (!strcmp(how, "read"))
			fd = open(path, O_RDONLY);
		else if (!strcmp(how, "change"))
			fd = open(path, O_WRONLY);
		else if (!strcmp(how, "neither"))
			fd = open(path, O_ACCMODE);
		else if (!strcmp(how, "empty"))
			fd = open(path, O_RDONLY | O_TRUNC);
		else if (!strcmp(how, "empty-neither"))
			fd = open(path, O_ACCMODE | O_TRUNC);
		else if (!strcmp(how, "lock"))
			fd = fcntl(open(path, O_RDONLY), F_SETLK, &lock);
		else if (!strcmp(how, "make"))
			fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		else if (!strcmp(how, "set-id"))
			fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 04700);
		else if (!strcmp(how, "list"))
			fd = open(path, O_RDONLY | O_DIRECTORY);
		else if (!strcmp(how, "truncate"))
			fd = truncate(path, 0);
		else if (!strcmp(how, "chmod"))
			fd = chmod(path, 0777);
		else if (!strcmp(how, "utimes"))
			fd = utimensat(AT_FDCWD, path, NULL, 0);
		else if (!strcmp(how, "chown"))
			fd = chown(path, 65534, 65534);
		else if (!strcmp(how, "unlink"))
			fd = unlink(path);
		else if (!strcmp(how, "link"))
			fd = link(path, "writable/0/linked");
		else if (!strcmp(how, "bring"))
			fd = rename(path, "results/brought");
		else if (!strcmp(how, "whiteout"))
			fd = syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, "writable/0/moved", RENAME_WHITEOUT);
		else if (!strcmp(how, "symlink"))
			fd = symlink("/etc/passwd", path);
		else if (!strcmp(how, "fifo"))
			fd = mkfifo(path, 0600);
		else if (!strcmp(how, "device"))
			fd = mknod(path, S_IFCHR | 0600, 0x103);
		else if (!strcmp(how, "execute"))
			fd = execl(path, path, NULL);
		else
			errno = EINVAL;
		tell(name, fd);
	}
	snprintf(target, sizeof(target), "/proc/%d/mem", getppid());
	tell("memory-of-parent", open(target, O_RDONLY));
	snprintf(target, sizeof(target), "/proc/%d/root", getppid());
	tell("root-of-parent", open(target, O_RDONLY | O_DIRECTORY));
}

/* A child of who has started us, and not ours. */
static void sibling(void)
{
	long child = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

	if (child == 0)
		_exit(0);
	tell("clone-parent", child);
}

static void processes(void)
{
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	TRY("kill-parent", SYS_kill, getppid(), 0);
	TRY("tgkill-parent", SYS_tgkill, getppid(), getppid(), 0);
	TRY("kill-everybody", SYS_kill, -1, 0);
	TRY("attach", SYS_ptrace, PTRACE_ATTACH, 0, 0, 0);
	TRY("seize", SYS_ptrace, PTRACE_SEIZE, 0, 0, 0);
	TRY("process_vm_readv", SYS_process_vm_readv, getppid(), 0, 0, 0, 0, 0);
	TRY("process_vm_writev", SYS_process_vm_writev, getppid(), 0, 0, 0, 0, 0);
	TRY("pidfd_open", SYS_pidfd_open, getppid(), 0);
	TRY("kcmp", SYS_kcmp, getppid(), getpid(), 0, 0, 0);
	sibling();
	TRY("prlimit-parent", SYS_prlimit64, getppid(), 7, 0, 0);
	TRY("prlimit-file-size", SYS_prlimit64, 0, RLIMIT_FSIZE, 0, 0);
	TRY("setrlimit-file-size", SYS_setrlimit, RLIMIT_FSIZE, 0);
	TRY("memory-failure", SYS_madvise, 0, 0, MADV_HWPOISON);
	TRY("setpriority", SYS_setpriority, 0, 0, 0);
	TRY("sched_setaffinity", SYS_sched_setaffinity, 0, 0, 0);
	TRY("setpgid", SYS_setpgid, 0, 0);
	/* What a lab does with its own processes. */
	TRY("kill-child", SYS_kill, child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void doors(void)
{
	int pair[2];

	tell("socket-inet", socket(AF_INET, SOCK_STREAM, 0));
	tell("socket-unix", socket(AF_UNIX, SOCK_DGRAM, 0));
	tell("socket-netlink", socket(AF_NETLINK, SOCK_RAW, 0));
	tell("pair-of-datagrams", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	tell("pair-of-streams", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	TRY("connect", SYS_connect, -1, 0, 0);
	TRY("bind", SYS_bind, -1, 0, 0);
	TRY("sendto", SYS_sendto, -1, 0, 0, 0, 0, 0);
	TRY("io_uring_setup", SYS_io_uring_setup, 0, 0);
	TRY("bpf", SYS_bpf, -1, 0, 0);
	TRY("keyctl", SYS_keyctl, -1, 0, 0, 0, 0);
	TRY("add_key", SYS_add_key, 0, 0, 0, 0, 0);
	TRY("userfaultfd", SYS_userfaultfd, -1);
	TRY("perf_event_open", SYS_perf_event_open, 0, 0, 0, 0, 0);
	TRY("mount", SYS_mount, 0, 0, 0, 0, 0);
	TRY("umount2", SYS_umount2, 0, 0);
	TRY("fsopen", SYS_fsopen, 0, -1);
	TRY("chroot", SYS_chroot, 0);
	TRY("pivot_root", SYS_pivot_root, 0, 0);
	TRY("unshare", SYS_unshare, 0);
	TRY("setns", SYS_setns, -1, 0);
	TRY("clone-namespace", SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0);
	TRY("clone3", SYS_clone3, 0, 0);
	TRY("open_by_handle_at", SYS_open_by_handle_at, -1, 0, 0);
	TRY("init_module", SYS_init_module, 0, 0, 0);
	TRY("kexec_load", SYS_kexec_load, 0, 0, 0, -1);
	TRY("reboot", SYS_reboot, 0, 0, 0, 0);
	TRY("sethostname", SYS_sethostname, 0, 0);
	TRY("setxattr", SYS_setxattr, 0, 0, 0, 0, 0);
	TRY("setuid", SYS_setuid, getuid());
	TRY("capset", SYS_capset, 0, 0);
	TRY("shmget", SYS_shmget, -1, 0, 0);
	TRY("mq_open", SYS_mq_open, 0, 0, 0, 0);
	TRY("inotify_init1", SYS_inotify_init1, -1);
	TRY("fanotify_init", SYS_fanotify_init, -1, 0);
	TRY("iopl", SYS_iopl, 3);
	TRY("personality", SYS_personality, 0x20000);
	TRY("dumpable", SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
	TRY("chattr", SYS_ioctl, 0, 0x40086602, 0);
	TRY("lease", SYS_fcntl, 0, F_SETLEASE, F_RDLCK);
	TRY("x32", 0x40000000 | SYS_getpid);
	TRY("getpid", SYS_getpid);
}

/* By the door of 32-bit programs, whose numbers are others: 20 is getpid there. */
static void ia32(void)
{
	long answer;

	asm volatile("int $0x80" : "=a"(answer) : "a"(20) : "memory");
	errno = -answer;
	tell("ia32", answer < 0 ? -1 : 0);
}

int main(void)
{
	FILE *status;

	answers = fopen("results/stdout", "w");
	if (!answers)
		return 1;
	setlinebuf(answers);
	doors();
	ia32();
	processes();
	files();
	fclose(answers);
	status = fopen("results/status.json", "w");
	fputs("{\"status\": \"done\", \"exit_code\": 0}", status);
	fclose(status);
	return 0;
}
