#define _GNU_SOURCE
#include "CLinuxFileSystem.h"

#ifdef __linux__
#include <unistd.h>

int emporium_syncfs(int descriptor) { return syncfs(descriptor); }
#endif
