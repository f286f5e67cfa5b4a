import Foundation

#if canImport(Darwin)
import Darwin
#endif

/// The memory of this process that is in RAM, in bytes.
enum ResidentMemory {

    /// How much it is now; `nil` where the system does not tell.
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

    /// The most since ``resetPeak()``; `nil` where that can't be told.
    static func peak() -> Int? {
        #if canImport(Darwin)
        nil
        #else
        status("VmHWM")
        #endif
    }

    /// Forgets the peak so far.
    ///
    /// - Returns: Whether the system could.
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

    /// Gives memory that was freed back to the system, so that what an engine before has used is not taken for free
    /// by the next. Does nothing where the allocator has no function for that.
    static func releaseFreed() {
        typealias Trim = @convention(c) (Int) -> CInt
        guard let program = dlopen(nil, RTLD_NOW) else { return }
        defer { dlclose(program) }
        guard let symbol = dlsym(program, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: Trim.self)(0)
    }

    #if !canImport(Darwin)
    private static func status(_ name: String) -> Int? {
        // Absence is an answer here: it is shown as unknown.
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
    }
    #endif
}
