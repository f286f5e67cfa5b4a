// syncfs is declared only for GNU sources, so Swift does not see it.
#define _GNU_SOURCE
#include "CSync.h"
#include <fcntl.h>
#include <unistd.h>

int bench_sync_file_system(int folder) {
#if defined(__APPLE__)
    // Writes the whole cache of the disk, including other files.
    return fcntl(folder, F_FULLFSYNC);
#else
    return syncfs(folder);
#endif
}
