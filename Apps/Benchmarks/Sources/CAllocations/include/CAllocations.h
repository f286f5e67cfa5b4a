#ifndef BENCH_CALLOCATIONS_H
#define BENCH_CALLOCATIONS_H

/// The number of allocations of this thread since it began; -1 where they can't be counted.
///
/// Includes malloc, calloc, realloc and the functions for aligned memory of the C library, on which Swift's allocations
/// are based.
long bench_allocations(void);

#endif
