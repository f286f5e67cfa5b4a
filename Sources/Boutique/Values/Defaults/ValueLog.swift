import Bodega
import Crypto
import Foundation

/// The format of a ``DefaultsFile``: a log to which each change of a value is appended.
///
///     signature  "EMPVAL1\n"
///     number     8 bytes, random for each file
///     records    length of the content (4 bytes), hash (8 bytes), content
///
///     content    0, length of the name (4 bytes), name           the value was removed
///                1, length of the name (4 bytes), name, bytes    the value was set
///                2, "synced\n", number, count, hash              a mark: the first `count` bytes were on disk
///
/// Numbers are little-endian. The hash of a record is the beginning of the SHA-256 of the file's number, the record's
/// place in the file and its content, so bytes of another file or place are never taken for a record. That of a mark is
/// over the file's number, the count and the mark's place: it is recognized even if all bytes before it are damaged.
///
/// A power failure can take what was appended after the last sync, in any order of its parts. So the log ends at the
/// first record that is invalid, unless a later mark proves that this record was on disk: then the file is damaged.
struct ValueLog: Sendable, Equatable {
    /// The random number of the file, zero while the file has no beginning.
    private(set) var number: UInt64 = 0
    /// The end of the last valid record, or of the beginning of the file; zero while it has none.
    private(set) var end = 0
    /// The end of the last change.
    private(set) var lastChange = 0
    /// The number of bytes that are known to be on disk.
    private(set) var synced = 0

    /// Whether there are changes that are not known to be on disk.
    var needsSync: Bool { lastChange > synced }

    /// The same log while nothing of it is known to be on disk.
    var unsynced: ValueLog {
        var log = self
        log.synced = 0
        return log
    }

    /// A change of a value: its name, and its new bytes or `nil`.
    typealias Change = (name: String, data: Data?)

    /// The bytes are not a log, or a part of the log that was on disk has changed.
    struct Damage: Error {}

    private enum Kind {
        static let removed: UInt8 = 0
        static let set: UInt8 = 1
        static let mark: UInt8 = 2
    }

    private static let signature = Data("EMPVAL1\n".utf8)
    private static let markSignature = Data([Kind.mark] + Array("synced\n".utf8))
    private static let beginning = 16
    private static let prefix = 12
    /// The number of bytes of a change besides the name and the bytes of the value.
    static let overhead = prefix + 5
    private static let markSize = 32
    /// The number of bytes between what a mark is about and the mark, up to which it is recognized at another place.
    private static let maximumDistance = 4_096
    /// The number of marks that are looked for elsewhere. A value can have the bytes of many marks of other files.
    private static let maximumAttempts = 16
}

// MARK: Writing

extension ValueLog {

    /// Adds a change to the log.
    ///
    /// - Returns: The bytes to append to the file.
    mutating func append(_ data: Data?, _ name: String) throws -> Data {
        var name = name
        return try name.withUTF8 { name in
            let size = 5 + name.count + (data?.count ?? 0)
            guard let length = UInt32(exactly: size) else {
                throw StorageError(.invalidArgument, "A value of more than 4 GiB can't be stored.")
            }
            var bytes = begin(reserving: Self.prefix + size)
            let start = bytes.count
            bytes.append(length)
            bytes.append(UInt64(0))
            bytes.append(data == nil ? Kind.removed : Kind.set)
            bytes.append(UInt32(name.count))
            bytes.append(contentsOf: name)
            if let data { bytes.append(data) }
            finish(&bytes, from: start)
            lastChange = end
            return bytes
        }
    }

    /// Adds a mark: that all bytes before a place are on disk.
    ///
    /// - Parameter count: The number of bytes, at most ``end``.
    /// - Returns: The bytes to append to the file.
    mutating func appendMark(_ count: Int) -> Data {
        var bytes = begin(reserving: Self.prefix + Self.markSize)
        let start = bytes.count
        bytes.append(UInt32(Self.markSize))
        bytes.append(UInt64(0))
        bytes.append(mark(count, at: end + start))
        finish(&bytes, from: start)
        synced = max(synced, count)
        return bytes
    }

    /// Notes that all bytes before a place are on disk.
    mutating func noteSynced(_ count: Int) { synced = max(synced, count) }

    /// The beginning of a file that has none.
    private mutating func begin(reserving size: Int) -> Data {
        var bytes = Data(capacity: Self.beginning + size)
        if end == 0 {
            number = .random(in: 1 ... .max)
            bytes.append(Self.signature)
            bytes.append(number)
        }
        return bytes
    }

    /// Sets the hash of the record that begins at an offset, and moves the end behind it.
    private mutating func finish(_ bytes: inout Data, from start: Int) {
        let hash = bytes.withUnsafeBytes { bytes in
            self.hash(bytes.dropFirst(start + Self.prefix), at: end + start)
        }
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: hash.littleEndian, toByteOffset: start + 4, as: UInt64.self) }
        end += bytes.count
    }

    private func mark(_ count: Int, at place: Int) -> Data {
        var bytes = Self.markSignature
        bytes.append(number)
        bytes.append(UInt64(count))
        bytes.append(bytes.withUnsafeBytes { hash($0[...], at: place) })
        return bytes
    }

    private func hash(_ content: Slice<UnsafeRawBufferPointer>, at place: Int) -> UInt64 {
        var hash = SHA256()
        withUnsafeBytes(of: (number.littleEndian, UInt64(place).littleEndian)) { hash.update(bufferPointer: $0) }
        hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: content))
        return hash.finalize().withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    }
}

// MARK: Reading

extension ValueLog {

    /// Reads the bytes of the file from ``end`` to the end of the file.
    ///
    /// - Parameters:
    ///   - bytes: The bytes. After a power failure or a kill during a change, the last ones can be no valid record;
    ///     then they remain behind ``end``.
    ///   - apply: Receives each change.
    /// - Throws: ``Damage``.
    mutating func read(_ bytes: Data, _ apply: (Change) -> Void) throws(Damage) {
        let start = end
        bytes.withUnsafeBytes { bytes in
            if end == 0 { readBeginning(bytes) }
            while readRecord(bytes[(end - start)...], apply) {}
        }
        let rest = bytes.dropFirst(end - start)
        if rest.isEmpty { return }
        if end == 0, !Self.canBeTornBeginning(bytes) { throw Damage() }
        if provesDamage(rest) { throw Damage() }
    }

    private mutating func readBeginning(_ bytes: UnsafeRawBufferPointer) {
        if bytes.count >= Self.beginning, bytes.starts(with: Self.signature) {
            // In bounds: the beginning has 16 bytes.
            number = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            end = Self.beginning
        }
    }

    /// Reads a record at ``end``.
    ///
    /// - Returns: `false` if there is no valid one.
    private mutating func readRecord(_ bytes: Slice<UnsafeRawBufferPointer>, _ apply: (Change) -> Void) -> Bool {
        if end == 0 || bytes.count <= Self.prefix { return false }
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        // In bounds: more bytes than those of a prefix.
        let length = Int(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
        let expected = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
        if length == 0 || length > bytes.count - Self.prefix { return false }
        let content = bytes[Self.prefix..<Self.prefix + length]
        if hash(content, at: end) != expected || !readContent(UnsafeRawBufferPointer(rebasing: content), apply) {
            return false
        }
        end += Self.prefix + length
        if content.first != Kind.mark { lastChange = end }
        return true
    }

    private mutating func readContent(_ content: UnsafeRawBufferPointer, _ apply: (Change) -> Void) -> Bool {
        switch content.first {
        case Kind.removed, Kind.set:
            if content.count < 5 { return false }
            let length = Int(UInt32(littleEndian: content.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
            if length > content.count - 5 { return false }
            let name = String(decoding: content[5..<5 + length], as: UTF8.self)
            apply((name, content[0] == Kind.set ? Data(content[(5 + length)...]) : nil))
        case Kind.mark:
            if content.count != Self.markSize { return false }
            synced = max(synced, Int(clamping: content.loadUnaligned(fromByteOffset: 16, as: UInt64.self).littleEndian))
        default: return false
        }
        return true
    }

    /// Whether the bytes of a file without a valid beginning can be those of one that was being begun: a part of the
    /// beginning, and zeros.
    private static func canBeTornBeginning(_ bytes: Data) -> Bool {
        let written = bytes.prefix(signature.count)
        let zeros = written.reversed().prefix { $0 == 0 }.count
        return signature.starts(with: written.dropLast(zeros))
    }

    /// Whether a mark among the bytes at ``end`` proves that the first of them were on disk.
    ///
    /// If bytes before it were removed or inserted, it is no longer at its place, which was at its count or, if changes
    /// were made during the sync, a little later. It must have the file's number then, unless that may be damaged, too.
    private func provesDamage(_ bytes: Data) -> Bool {
        var (rest, attempts) = (bytes, 0)
        while let found = rest.range(of: Self.markSignature) {
            let place = end + found.lowerBound - bytes.startIndex
            rest = rest[found.upperBound...]
            let fields = rest.prefix(Self.markSize - Self.markSignature.count)
            guard fields.count == Self.markSize - Self.markSignature.count else { break }
            var log = self
            // In bounds: three numbers.
            (log.number, _) = fields.withUnsafeBytes { ($0.loadUnaligned(as: UInt64.self).littleEndian, 0) }
            let count = fields.withUnsafeBytes {
                Int(clamping: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self).littleEndian)
            }
            if count <= end || count > .max / 2 { continue }
            let mark = Self.markSignature + fields
            var places = [place - Self.prefix]
            if attempts < Self.maximumAttempts, log.number == number || end <= Self.beginning {
                attempts += 1
                places += count...count + Self.maximumDistance
            }
            if places.contains(where: { log.mark(count, at: $0) == mark }) { return true }
        }
        return false
    }
}

extension Data {
    fileprivate mutating func append(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
