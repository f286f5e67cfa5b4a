import Foundation

#if canImport(Darwin)
import Darwin
#endif

/// The resident memory of this process, in bytes.
enum ResidentMemory {

    /// The current value; `nil` where the system does not provide it.
    static func now() -> Int? {
        #if canImport(Darwin)
        var info = mach_task_basic_info()
        var count = mach_msg_type_number_t(MemoryLayout<mach_task_basic_info>.size / MemoryLayout<natural_t>.size)
        let size = Int(count)
        let result = withUnsafeMutablePointer(to: &info) {
            $0.withMemoryRebound(to: integer_t.self, capacity: size) {
                task_info(mach_task_self_, task_flavor_t(MACH_TASK_BASIC_INFO), $0, &count)
            }
        }
        return result == KERN_SUCCESS ? Int(info.resident_size) : nil
        #else
        return status("VmRSS")
        #endif
    }

    /// The peak since ``resetPeak()``; `nil` where the system does not provide it.
    static func peak() -> Int? {
        #if canImport(Darwin)
        nil
        #else
        status("VmHWM")
        #endif
    }

    /// Resets the peak.
    ///
    /// - Returns: Whether the system supports that.
    static func resetPeak() -> Bool {
        #if canImport(Darwin)
        return false
        #else
        // See proc_pid_clear_refs(5).
        guard let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return false }
        do {
            try file.write(contentsOf: Data("5".utf8))
            try file.close()
            return true
        } catch {
            return false
        }
        #endif
    }

    /// Returns freed memory to the system, so that the next engine does not seem to use less memory. Does nothing if
    /// the allocator has no function for that.
    static func releaseFreed() {
        typealias Trim = @convention(c) (Int) -> CInt
        guard let program = dlopen(nil, RTLD_NOW) else { return }
        defer { dlclose(program) }
        guard let symbol = dlsym(program, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: Trim.self)(0)
    }

    #if !canImport(Darwin)
    private static func status(_ name: String) -> Int? {
        // A missing file means that the value is unknown.
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
    }
    #endif
}
