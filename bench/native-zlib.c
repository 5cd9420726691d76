/* Native zlib at PHP's parameters (raw DEFLATE, window 15, memLevel 9), called as PHP calls it: init, one deflate, end.
 *
 * Usage: native-zlib LIBRARY FILE LEVEL NANOSECONDS ENCODED
 * Compresses FILE with that shared library (the one PHP is linked to) for at least NANOSECONDS of CPU time, writes the encoded bytes to
 * ENCODED, and prints the library's version and the CPU nanoseconds of one call. The interface is declared here,
 * because the library's headers are not installed where only PHP is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct stream {
    const unsigned char *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *(*zalloc)(void *, unsigned int, unsigned int);
    void (*zfree)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
};

enum { DEFLATED = 8, RAW_WINDOW = -15, MEM_LEVEL = 9, FINISH = 4, STREAM_END = 1 };

static const char *(*version)(void);
static int (*init)(struct stream *, int, int, int, int, int, const char *, int);
static int (*deflate)(struct stream *, int);
static int (*end)(struct stream *);

static void die(const char *what)
{
    fprintf(stderr, "native-zlib: %s\n", what);
    exit(1);
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static size_t compress(const unsigned char *in, size_t size, unsigned char *out, size_t room, int level)
{
    struct stream s = {.next_in = in, .avail_in = (unsigned int)size, .next_out = out, .avail_out = (unsigned int)room};
    if (init(&s, level, DEFLATED, RAW_WINDOW, MEM_LEVEL, 0, version(), (int)sizeof s) != 0) die("the library rejected the stream");
    if (deflate(&s, FINISH) != STREAM_END) die("the stream did not end");
    end(&s);
    return s.total_out;
}

int main(int argc, char **argv)
{
    if (argc != 6) die("wrong arguments");
    /* PHP's allocator keeps what is freed; without these, each call would fetch its 400 KB from the kernel again. */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    void *library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) die(dlerror());
    *(void **)&version = dlsym(library, "zlibVersion");
    *(void **)&init = dlsym(library, "deflateInit2_");
    *(void **)&deflate = dlsym(library, "deflate");
    *(void **)&end = dlsym(library, "deflateEnd");
    if (version == NULL || init == NULL || deflate == NULL || end == NULL) die("not a zlib");

    FILE *file = fopen(argv[2], "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) die("the content cannot be read");
    size_t size = (size_t)ftell(file), room = size + size / 8 + 1024;
    rewind(file);
    unsigned char *in = malloc(size + 1), *out = malloc(room);
    if (in == NULL || out == NULL || fread(in, 1, size, file) != size) die("the content cannot be read");
    fclose(file);

    int level = atoi(argv[3]);
    double least = atof(argv[4]), from, spent;
    size_t encoded = 0;
    long calls = 0;
    for (int warm = 0; warm < 2; warm++) encoded = compress(in, size, out, room, level);
    from = cpu_ns();
    do {
        encoded = compress(in, size, out, room, level);
        calls++;
        spent = cpu_ns() - from;
    } while (spent < least);

    FILE *kept = fopen(argv[5], "wb");
    if (kept == NULL || fwrite(out, 1, encoded, kept) != encoded || fclose(kept) != 0) die("the output cannot be written");
    printf("%s %.1f\n", version(), spent / (double)calls);
    return 0;
}
