// The calls of Linux that Swift's Glibc and Musl modules leave out. Empty elsewhere.
#ifndef EMPORIUM_LINUX_FILE_SYSTEM_H
#define EMPORIUM_LINUX_FILE_SYSTEM_H

#ifdef __linux__
#include <stddef.h>
#include <sys/inotify.h>
#include <sys/types.h>
#include <sys/xattr.h>

/// syncfs(2), whose declaration hides behind _GNU_SOURCE.
int emporium_syncfs(int descriptor);
#endif

#endif
