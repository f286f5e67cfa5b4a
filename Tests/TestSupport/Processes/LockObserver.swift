package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Looks at the locks that another process holds on files. A process does not see its own.
package enum LockObserver {

    /// The files and folders in a folder, itself included, on which another process holds a lock.
    ///
    /// It asks the system for each kind of lock, and on Linux also for the list of all locks of the process.
    ///
    /// - Parameters:
    ///   - folder: The folder. It is searched to any depth.
    ///   - process: The process, for the list.
    package static func locks(in folder: URL, of process: pid_t) throws -> [String] {
        var locked: [String] = []
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        for path in [""] + paths {
            let path = folder.path + "/" + path
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            // It was removed in the meantime.
            if descriptor < 0 { continue }
            defer { close(descriptor) }
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0 { locked.append("flock \(path)") }
            var lock = flock()
            lock.l_type = Int16(F_WRLCK)
            lock.l_whence = Int16(SEEK_SET)
            if fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) {
                locked.append("fcntl \(path) \(lock.l_start)+\(lock.l_len)")
            }
        }
        return locked + listed(process)
    }

    private static func listed(_ process: pid_t) -> [String] {
        guard let list = FileManager.default.contents(atPath: "/proc/locks") else { return [] }
        return String(decoding: list, as: UTF8.self).split(separator: "\n").map(String.init).filter { line in
            line.split(separator: " ", omittingEmptySubsequences: true).contains("\(process)")
        }
    }
}
