#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The sanitizer of `bin/test --sanitize thread`.
package enum ThreadSanitizer {

    /// Whether the program is built with the sanitizer. It makes programs about ten times slower, so tests use smaller
    /// sizes with it. They run at full size without it.
    package static let isThere: Bool = {
        // <dlfcn.h> defines RTLD_DEFAULT, which means all loaded images, by a cast that Swift does not import.
        #if canImport(Darwin)
        let all = UnsafeMutableRawPointer(bitPattern: -2)
        #else
        let all = UnsafeMutableRawPointer(bitPattern: 0)
        #endif
        return dlsym(all, "__tsan_init") != nil
    }()
}
