#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The sanitizer that `bin/test --sanitize thread` builds in.
package enum ThreadSanitizer {

    /// Whether it is there. It makes all that is done take about ten times as long, so what counts by its mere size is
    /// smaller then: it is tested without it, too.
    package static let isThere: Bool = {
        // <dlfcn.h> defines RTLD_DEFAULT, all that is loaded, by a cast, which Swift does not see.
        #if canImport(Darwin)
        let all = UnsafeMutableRawPointer(bitPattern: -2)
        #else
        let all = UnsafeMutableRawPointer(bitPattern: 0)
        #endif
        return dlsym(all, "__tsan_init") != nil
    }()
}
