// Makes the system report eight processors to a process that preloads this library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { count = 8 };

static int fill(size_t size, cpu_set_t *set) {
    CPU_ZERO_S(size, set);
    for (int number = 0; number < count; number++) CPU_SET_S(number, size, set);
    return 0;
}

int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set) { return fill(size, set); }
int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set) { return fill(size, set); }
int get_nprocs(void) { return count; }
int get_nprocs_conf(void) { return count; }

long sysconf(int name) {
    if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) return count;
    long (*system)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    return system(name);
}
