/* Asks the host a million times for what a lab asks it most, and prints the processor time of one call in ns. */

#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const long CALLS = 1000000;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(void)
{
	int word = 0;
	double begin_ns = now_ns();

	for (long call = 0; call < CALLS; call++)
		syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	printf("%.1f\n", (now_ns() - begin_ns) / CALLS);
	return 0;
}
