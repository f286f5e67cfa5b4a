// syncfs is declared only for GNU sources, so Swift does not see it.
#define _GNU_SOURCE
#include "CSync.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int bench_sync_file_system(int folder) {
#if defined(__APPLE__)
    // Writes the whole cache of the disk, including other files.
    return fcntl(folder, F_FULLFSYNC);
#else
    return syncfs(folder);
#endif
}

int64_t bench_processor_nanoseconds(void) {
    struct timespec time;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0) return -1;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t bench_file_size(int file) {
    struct stat status;
    return fstat(file, &status) == 0 ? (int64_t)status.st_size : -1;
}
