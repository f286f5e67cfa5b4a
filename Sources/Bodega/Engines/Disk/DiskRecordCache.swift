import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A cache of the records of files, for callers that read the whole folder repeatedly: reading an attribute takes about
/// as long as opening the file.
///
/// A file whose status change time is unchanged has unchanged attributes. As in git's index, the cache relies on that
/// only if the time was long past when the attribute was read, because two changes within one tick of the volume's
/// clock have the same time.
final class DiskRecordCache: Sendable {

    /// The identity of one state of a file.
    struct Stamp: Hashable, Sendable {
        let device: UInt64
        let number: UInt64
        /// When the status was last changed, in nanoseconds since 1970.
        let time: Int64

        init(_ status: stat) {
            #if canImport(Darwin)
            let changed = status.st_ctimespec
            #else
            let changed = status.st_ctim
            #endif
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
            time = changed.nanoseconds
        }
    }

    private static let mostFiles = 50_000
    /// The first time of all, from which an age can be subtracted.
    private static let firstTime = Int64.min + 2_000_000_000
    /// The minimum age of a change, in nanoseconds: more than a tick of the volume's clock. Times without a fraction
    /// indicate a volume whose clock counts seconds.
    private static func leastAge(_ stamp: Stamp) -> Int64 {
        stamp.time.isMultiple(of: 1_000_000_000) ? 2_000_000_000 : 100_000_000
    }

    private let known = Locked<[Stamp: DiskRecord]>([:])

    /// One reading of the folder.
    final class Reading: Sendable {
        private let known: [Stamp: DiskRecord]
        /// When the reading began, in nanoseconds since 1970; the first time of all if it must not add to the cache.
        private let time: Int64
        fileprivate let found = Locked<[Stamp: DiskRecord]>([:])

        fileprivate init(_ known: [Stamp: DiskRecord], time: Int64) {
            self.known = known
            self.time = time
        }

        /// The record in a file's attribute, `nil` if it has none.
        func record(of descriptor: Int32, _ status: stat) throws -> DiskRecord? {
            let stamp = Stamp(status)
            if let record = known[stamp] { return record }
            let record = try DiskAttribute.get(of: descriptor)
            if let record, stamp.time < time - DiskRecordCache.leastAge(stamp) {
                found.withLock { $0[stamp] = record }
            }
            return record
        }
    }

    /// Begins a reading of the folder.
    ///
    /// - Parameters:
    ///   - time: The time in nanoseconds since 1970.
    ///   - count: The number of files. The records of very many files would take too much memory.
    func read(at time: Int64, count: Int) -> Reading {
        Reading(known.withLock { $0 }, time: count <= Self.mostFiles ? max(time, Self.firstTime) : Self.firstTime)
    }

    /// Ends a reading: adds its records to the cache, after emptying it if most of its files no longer exist.
    ///
    /// - Parameter count: The number of files.
    func end(_ reading: Reading, count: Int) {
        let found = reading.found.withLock { $0 }
        known.withLock { known in
            if count > Self.mostFiles || known.count + found.count > count * 2 { known = [:] }
            known.merge(found) { $1 }
        }
    }
}
