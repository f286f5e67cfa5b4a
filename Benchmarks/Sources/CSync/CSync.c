// syncfs is declared for GNU sources only, so Swift does not see it.
#define _GNU_SOURCE
#include "CSync.h"
#include <fcntl.h>
#include <unistd.h>

int bench_sync_file_system(int folder) {
#if defined(__APPLE__)
    // The medium's whole cache is written, that of other files too.
    return fcntl(folder, F_FULLFSYNC);
#else
    return syncfs(folder);
#endif
}
