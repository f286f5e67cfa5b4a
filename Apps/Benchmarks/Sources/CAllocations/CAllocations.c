#include "CAllocations.h"
#include <errno.h>
#include <stdlib.h>

// A program may replace malloc, and glibc provides its own under other names:
// https://www.gnu.org/software/libc/manual/html_node/Replacing-malloc.html
#if defined(__GLIBC__)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static __thread long allocations __attribute__((tls_model("initial-exec")));

long bench_allocations(void) {
    return allocations;
}

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    allocations++;
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    allocations++;
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    void *aligned = memalign(alignment, size);
    if (aligned == NULL) return ENOMEM;
    *memory = aligned;
    return 0;
}

void free(void *memory) {
    __libc_free(memory);
}

#else

long bench_allocations(void) {
    return -1;
}

#endif
