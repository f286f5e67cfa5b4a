import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The records of files that were read before, for those who read all of a folder again and again: reading an attribute
/// takes about as long as opening the file.
///
/// A file whose status was last changed at the same time has the same attributes. As in git's index, that is only relied
/// on if the time was long ago when the attribute was read: two changes within one tick of the volume's clock look alike.
final class DiskRecordCache: Sendable {

    /// What tells the states of files apart.
    struct Stamp: Hashable, Sendable {
        let device: UInt64
        let number: UInt64
        /// When it was changed, in nanoseconds since 1970.
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
    /// How long ago a change must be, in nanoseconds: more than a tick of the volume's clock. Volumes that count seconds only
    /// are told by times without a fraction.
    private static func leastAge(_ stamp: Stamp) -> Int64 {
        stamp.time.isMultiple(of: 1_000_000_000) ? 2_000_000_000 : 100_000_000
    }

    private let known = Locked<[Stamp: DiskRecord]>([:])

    /// One reading of the folder.
    final class Reading: Sendable {
        private let known: [Stamp: DiskRecord]
        /// When it began, in nanoseconds since 1970, or 0 if nothing is to be remembered.
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

    /// Begins to read the folder.
    ///
    /// - Parameters:
    ///   - time: The time in nanoseconds since 1970.
    ///   - count: How many files there are. What is known of very many would take too much memory.
    func read(at time: Int64, count: Int) -> Reading {
        Reading(known.withLock { $0 }, time: count <= Self.mostFiles ? time : 0)
    }

    /// Remembers what was found, and forgets all when most of it is of files that are gone.
    ///
    /// - Parameter count: How many files there are.
    func end(_ reading: Reading, count: Int) {
        let found = reading.found.withLock { $0 }
        known.withLock { known in
            if count > Self.mostFiles || known.count + found.count > count * 2 { known = [:] }
            known.merge(found) { $1 }
        }
    }
}
