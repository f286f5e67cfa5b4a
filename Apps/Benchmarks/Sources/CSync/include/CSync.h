#ifndef BENCH_CSYNC_H
#define BENCH_CSYNC_H

/// Syncs the file system of an open folder. Returns 0, or -1 with errno set.
int bench_sync_file_system(int folder);

#endif
