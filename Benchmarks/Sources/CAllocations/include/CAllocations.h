#ifndef BENCH_CALLOCATIONS_H
#define BENCH_CALLOCATIONS_H

/// How often this thread has allocated memory since it began; -1 where that cannot be counted.
///
/// Counted are malloc, calloc, realloc and the functions for aligned memory of the C library, on which Swift's own
/// allocations rest too.
long bench_allocations(void);

#endif
