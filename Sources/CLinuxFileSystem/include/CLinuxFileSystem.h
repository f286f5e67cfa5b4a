// Declarations of Linux that Swift's Glibc and Musl modules lack. Empty on other platforms.
#ifndef EMPORIUM_LINUX_FILE_SYSTEM_H
#define EMPORIUM_LINUX_FILE_SYSTEM_H

#ifdef __linux__
#include <stddef.h>
#include <sys/inotify.h>
#include <sys/types.h>
#include <sys/xattr.h>

/// Calls syncfs(2), which is declared only with _GNU_SOURCE.
int emporium_syncfs(int descriptor);
#endif

#endif
