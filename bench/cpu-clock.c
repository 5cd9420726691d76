/* Preloaded into a peer that times itself by the wall: every clock it asks becomes the CPU time of its process,
 * so that both sides of a comparison are measured alike on a shared machine. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int cpu(struct timespec *t) { return (int)syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, t); }

int clock_gettime(clockid_t id, struct timespec *t) { (void)id; return cpu(t); }

int timespec_get(struct timespec *t, int base) { return cpu(t) == 0 ? base : 0; }

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec s;
    (void)zone;
    if (cpu(&s) != 0) return -1;
    t->tv_sec = s.tv_sec;
    t->tv_usec = s.tv_nsec / 1000;
    return 0;
}
