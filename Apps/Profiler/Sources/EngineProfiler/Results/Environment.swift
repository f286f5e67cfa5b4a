import Foundation
import GRDBSQLite

/// The machine and software that the results depend on.
struct Environment: Codable, Equatable, Sendable {
    /// The processor's name, `nil` if it is unknown.
    var processor: String?
    /// The number of processors that the process may use.
    var cores: Int
    /// The memory of the machine, in bytes.
    var memory: UInt64
    /// The operating system and its version.
    var system: String
    /// The compiler's version.
    var swift: String
    /// SQLite's version.
    var sqlite: String
    /// The type of the file system of the temporary folder, such as `ext4`; `nil` if it is unknown.
    var fileSystem: String?
    /// Whether the profiler was compiled with optimization. Without it the results are meaningless.
    var isOptimized: Bool
    /// The load average of the last minute when the run began; `nil` if it is unknown.
    var load: Double?
    /// The overhead of timing a call, in nanoseconds, which has been subtracted from all times.
    var clockOverhead: UInt64

    /// Describes the current machine.
    ///
    /// - Parameters:
    ///   - folder: The folder of temporary data.
    ///   - clockOverhead: The overhead of timing a call.
    init(folder: URL, clockOverhead: UInt64) {
        let info = ProcessInfo.processInfo
        processor = Self.processorName
        cores = info.activeProcessorCount
        memory = info.physicalMemory
        system = info.operatingSystemVersionString
        swift = Self.compiler
        sqlite = String(cString: sqlite3_libversion())
        fileSystem = Self.fileSystem(of: folder)
        isOptimized = Self.isOptimizedBuild
        var loads = [0.0]
        load = getloadavg(&loads, 1) == 1 ? loads[0] : nil
        self.clockOverhead = clockOverhead
    }

    private static var compiler: String {
        #if compiler(>=6.4)
        "6.4 or later"
        #elseif compiler(>=6.3)
        "6.3"
        #elseif compiler(>=6.2)
        "6.2"
        #else
        "6.1"
        #endif
    }

    private static var isOptimizedBuild: Bool {
        var isDebug = false
        // Assertions are only evaluated in builds without optimization.
        assert(
            {
                isDebug = true
                return true
            }())
        return !isDebug
    }

    private static var processorName: String? {
        #if canImport(Darwin)
        var size = 0
        guard sysctlbyname("machdep.cpu.brand_string", nil, &size, nil, 0) == 0, size > 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        guard sysctlbyname("machdep.cpu.brand_string", &bytes, &size, nil, 0) == 0 else { return nil }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        #else
        guard let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") || $0.hasPrefix("Model") }
        return line?.split(separator: ":", maxSplits: 1).last.map { $0.trimmingCharacters(in: .whitespaces) }
        #endif
    }

    private static func fileSystem(of folder: URL) -> String? {
        #if canImport(Darwin)
        return (try? folder.resourceValues(forKeys: [.volumeTypeNameKey]))?.volumeTypeName
        #else
        // The mount of the folder's device number, see proc_pid_mountinfo(5).
        var status = stat()
        guard stat(folder.path, &status) == 0,
            let mounts = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
        else { return nil }
        let device = "\(major(status.st_dev)):\(minor(status.st_dev))"
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2, fields[2] == device, let dash = fields.firstIndex(of: "-") else { continue }
            if dash + 1 < fields.endIndex { return String(fields[dash + 1]) }
        }
        return nil
        #endif
    }

    #if !canImport(Darwin)
    // The macros of <sys/sysmacros.h>, which Swift does not import.
    private static func major(_ device: dev_t) -> UInt64 {
        (UInt64(device) >> 8 & 0xFFF) | (UInt64(device) >> 32 & ~0xFFF)
    }

    private static func minor(_ device: dev_t) -> UInt64 {
        (UInt64(device) & 0xFF) | (UInt64(device) >> 12 & ~0xFF)
    }
    #endif
}
