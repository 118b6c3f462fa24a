// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first process of a lab whose root image somebody has prepared for an attack. It is the only program in it, so
 * from its first instruction on it does what /attempts says: lines of a folder of the host, a name and what is done,
 * with colons between. Each line of the command's output is an attempt and the errno it got, or 0.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vm_sockets.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

static FILE *answers;

static void tell(const char *name, long answer)
{
	fprintf(answers, "%s %d\n", name, answer < 0 ? errno : 0);
	fflush(answers);
	errno = 0;
}

static long list(const char *path)
{
	DIR *folder = opendir(path);

	/* An empty one would be a folder that has been reached. */
	if (!folder)
		return -1;
	errno = 0;
	return readdir(folder) || !errno ? 0 : -1;
}

static long read_one(const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY);

	return fd < 0 ? -1 : read(fd, &byte, 1);
}

static long make(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	return fd < 0 ? -1 : unlink(path);
}

static long speak(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (chdir("/host"))
		return -1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", strrchr(path, '/') + 1);
	return connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&address, sizeof(address));
}

/* As root of this lab, mount a folder of the host and do something to what is in it. */
static long reach(const char *folder, const char *name, const char *how)
{
	char path[5000];
	long answer = -1;
	int code;

	if (mount("none", "/host", "hostfs", 0, folder))
		return -1;
	snprintf(path, sizeof(path), "/host/%s", name);
	if (!strcmp(how, "list"))
		answer = list(path);
	else if (!strcmp(how, "read"))
		answer = read_one(path);
	else if (!strcmp(how, "change"))
		answer = open(path, O_WRONLY);
	else if (!strcmp(how, "make"))
		answer = make(path);
	else if (!strcmp(how, "rename"))
		answer = rename(path, "/host/renamed");
	else if (!strcmp(how, "speak"))
		answer = speak(path);
	else
		errno = EINVAL;
	code = errno;
	if (chdir("/") || umount2("/host", MNT_DETACH))
		return 0;
	errno = code;
	return answer;
}

static long call(const char *address, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };

	inet_pton(AF_INET, address, &to.sin_addr);
	return connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&to, sizeof(to));
}

static void attempts(void)
{
	FILE *file = fopen("/attempts", "r");
	char line[5000];

	while (file && fgets(line, sizeof(line), file)) {
		char words[5000], *folder = words, *name, *how;

		line[strcspn(line, "\n")] = 0;
		strcpy(words, line);
		how = strrchr(words, ':');
		*how++ = 0;
		name = strrchr(words, ':');
		*name++ = 0;
		if (!strcmp(how, "call"))
			tell(line, call(folder, name));
		else if (!strcmp(how, "signal"))
			tell(line, kill(atoi(folder), 0));
		else if (!strcmp(how, "trace"))
			tell(line, ptrace(PTRACE_ATTACH, atoi(folder), 0, 0));
		else
			tell(line, reach(folder, name, how));
	}
}

static void device(const char *name, mode_t kind, int major, int minor)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/own/%s", name);
	if (mknod(path, kind | 0600, makedev(major, minor))) {
		tell("mknod", -1);
		return;
	}
	fd = open(path, O_RDWR);
	if (fd < 0)
		fd = open(path, O_RDONLY);
	tell(name, fd);
}

static void channels(void)
{
	struct sockaddr_vm hypervisor = { .svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_HOST, .svm_port = 1 };
	int fd;

	mount("none", "/own", "tmpfs", 0, "");
	mount("none", "/proc", "proc", 0, "");
	device("mem", S_IFCHR, 1, 1);
	device("kmem", S_IFCHR, 1, 2);
	device("port", S_IFCHR, 1, 4);
	device("sound", S_IFCHR, 14, 3);
	device("watchdog", S_IFCHR, 10, 130);
	device("random", S_IFCHR, 10, 183);
	device("kvm", S_IFCHR, 10, 232);
	device("disk", S_IFBLK, 8, 0);
	device("ubd", S_IFBLK, 98, 0);
	tell("proc", open("/proc/self/status", O_RDONLY));
	tell("mconsole", open("/proc/mconsole", O_WRONLY));
	tell("kcore", open("/proc/kcore", O_RDONLY));
	tell("iopl", iopl(3));
	tell("ioperm", ioperm(0x70, 1, 1));
	fd = socket(AF_VSOCK, SOCK_STREAM, 0);
	tell("vsock", fd < 0 ? -1 : connect(fd, (void *)&hypervisor, sizeof(hypervisor)));
}

/* A link in this root, followed as the lab sees it: what it leads to. */
static void links(void)
{
	char text[64];
	int fd = open("/link", O_RDONLY);
	ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[bytes < 0 ? 0 : bytes] = 0;
	fprintf(answers, "link:%s", text);
	tell("", bytes);
	tell("link-to-a-folder", list("/folder"));
}

int main(void)
{
	FILE *status;

	if (mount("none", "/results", "hostfs", 0, "/proc/self/cwd/results"))
		return 1;
	answers = fopen("/results/stdout", "w");
	links();
	attempts();
	channels();
	status = fopen("/results/status.json", "w");
	fputs("{\"status\": \"done\", \"exit_code\": 0}", status);
	fclose(status);
	fclose(answers);
	sync();
	return reboot(RB_POWER_OFF);
}
