import Foundation

#if canImport(Darwin)
import Darwin
#endif

/// The resident memory of this process, in bytes.
package enum ResidentMemory {
    /// The current value, or on Apple platforms the peak so far.
    package static func now() throws -> Int {
        #if canImport(Darwin)
        try peak()
        #else
        try kilobytes(named: "VmRSS") * 1024
        #endif
    }

    /// The peak since the program started.
    package static func peak() throws -> Int {
        #if canImport(Darwin)
        var usage = rusage()
        guard getrusage(RUSAGE_SELF, &usage) == 0 else { throw VerificationFailure("getrusage failed: \(errno)") }
        return usage.ru_maxrss
        #else
        // Not getrusage: on Linux a program inherits the maximum of its parent process.
        try kilobytes(named: "VmHWM") * 1024
        #endif
    }

    #if !canImport(Darwin)
    private static func kilobytes(named name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        for line in status.split(separator: "\n") where line.hasPrefix("\(name):") {
            if let number = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first,
                let kilobytes = Int(number)
            {
                return kilobytes
            }
        }
        throw VerificationFailure("/proc/self/status has no \(name)")
    }
    #endif
}
