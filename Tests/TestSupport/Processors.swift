import Foundation
import TestProcesses
import Testing

/// Lets a child process see more processors than there are: the system's thread pools grow with them.
package enum Processors {

    /// The environment for a child process that is to see eight processors, and so many itself if it needs no such help.
    ///
    /// - Parameter folder: Where the library is built that answers for the system.
    package static func eight(in folder: TemporaryFolder) throws -> [String: String] {
        if ProcessInfo.processInfo.activeProcessorCount >= 8 { return [:] }
        let (source, library) = (folder.file("processors.c"), folder.file("processors.so"))
        try Data(code.utf8).write(to: source)
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = ["clang", "-shared", "-fPIC", "-o", library.path, source.path]
        try compiler.start()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        return ["LD_PRELOAD": library.path]
    }

    private static let code = """
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
        """
}
