/* Preloaded into a peer that times itself by the wall: every clock it asks becomes the CPU time of its process,
 * so that both sides of a comparison are measured alike on a shared machine. CPU_CLOCK_FASTER=5 lets that clock run five times
 * as fast: a peer that counts calls for a fixed second then counts for a fifth of one. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long faster(void)
{
    static long long factor;
    if (factor == 0) {
        const char *asked = getenv("CPU_CLOCK_FASTER");
        factor = asked == NULL ? 1 : atoll(asked);
        if (factor < 1) factor = 1;
    }
    return factor;
}

static int cpu(struct timespec *t)
{
    if (syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, t) != 0) return -1;
    long long ns = (t->tv_sec * 1000000000LL + t->tv_nsec) * faster();
    t->tv_sec = ns / 1000000000LL;
    t->tv_nsec = ns % 1000000000LL;
    return 0;
}

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
