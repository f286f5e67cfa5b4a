#ifndef BENCH_CSYNC_H
#define BENCH_CSYNC_H

#include <stdint.h>

/// Syncs the file system of an open folder. Returns 0, or -1 with errno set.
int bench_sync_file_system(int folder);

// These are in C, because beside SwiftNIO Swift finds the system's structures in a module that can't be imported.

/// Returns the processor time of all threads of this process so far, or -1 with errno set.
int64_t bench_processor_nanoseconds(void);

/// Returns the size of an open file by fstat, or -1 with errno set.
int64_t bench_file_size(int file);

#endif
