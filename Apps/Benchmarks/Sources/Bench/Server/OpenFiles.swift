import BenchHarness
import Foundation

/// The files and connections that a process may have open.
enum OpenFiles {
    /// Raises the limit of this process as far as the system allows.
    static func raiseLimit() throws {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { throw VerificationFailure("getrlimit failed: \(errno)") }
        limit.rlim_cur = limit.rlim_max
        guard setrlimit(resource, &limit) == 0 else { throw VerificationFailure("setrlimit failed: \(errno)") }
    }

    /// Raises the limit, and checks that it suffices.
    static func reserve(_ count: Int) throws {
        try raiseLimit()
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { throw VerificationFailure("getrlimit failed: \(errno)") }
        guard limit.rlim_cur > count + 200 else {
            throw VerificationFailure(
                "\(count) connections need a higher limit of open files; \"ulimit -Hn\" is \(limit.rlim_max)")
        }
    }

    #if canImport(Darwin)
    private static let resource = RLIMIT_NOFILE
    #else
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
}
