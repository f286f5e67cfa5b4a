import Foundation
import TestSupport
import Testing

@testable import Boutique

@Suite struct ValueLogTests {

    /// A log of some changes, and the entries after each, with its end.
    private struct Written {
        var log = ValueLog()
        var bytes = Data()
        var states: [(end: Int, entries: [String: Data])] = [(0, [:])]

        mutating func add(_ data: Data?, _ name: String) throws {
            bytes += try log.append(data, name)
            var entries = states[states.count - 1].entries
            entries[name] = data
            states.append((bytes.count, entries))
        }

        mutating func mark() { bytes += log.appendMark(bytes.count) }

        /// The entries after the last change that ends before a place.
        func entries(before place: Int) -> [String: Data] { states.last { $0.end <= place }?.entries ?? [:] }
    }

    private func read(_ bytes: Data) throws -> (entries: [String: Data], log: ValueLog) {
        var (log, entries) = (ValueLog(), [String: Data]())
        try log.read(bytes) { entries[$0.name] = $0.data }
        return (entries, log)
    }

    private func makeLog(isMarked: Bool) throws -> Written {
        var written = Written()
        try written.add(Data("one".utf8), "a")
        try written.add(Data(), "")
        try written.add(Data("two".utf8), "größe")
        if isMarked { written.mark() }
        try written.add(Data(repeating: 0, count: 40), "zeros")
        try written.add(nil, "a")
        try written.add(Data("three".utf8), "größe")
        return written
    }

    @Test func `A file that another program has written by the description of the format is read`() throws {
        let (entries, log) = try read(Data(contentsOf: Fixtures.file("emporium-1-values/suite.values")))
        #expect(
            entries.mapValues { String(decoding: $0, as: UTF8.self) } == [
                "theme": #"{"value":"dark"}"#, "größe 🎨": #"{"value":12}"#, "empty": "", "last": #"{"value":[1,2]}"#,
            ])
        #expect(log.needsSync)
    }

    @Test("What follows the last sync may be missing from any byte on", arguments: [false, true], [false, true])
    func tornEnd(isMarked: Bool, isZeroed: Bool) throws {
        let written = try makeLog(isMarked: isMarked)
        // A power failure takes nothing that was synced.
        for count in (isMarked ? written.states[3].end : 0)...written.bytes.count {
            let zeros = Data(count: isZeroed ? written.bytes.count - count : 0)
            let entries = try read(written.bytes.prefix(count) + zeros).entries
            // Zeros can be what was written there.
            let unchanged = zip(written.bytes.dropFirst(count), zeros).prefix { $0 == $1 }.count
            #expect(entries == written.entries(before: count + unchanged), "\(count) bytes")
        }
    }

    @Test func `A part that is missing in the middle, as after writes in another order, ends the log`() throws {
        let written = try makeLog(isMarked: false)
        for place in 0..<written.bytes.count {
            var bytes = written.bytes
            let missing = bytes.index(bytes.startIndex, offsetBy: place)..<min(place + 30, bytes.count)
            bytes.replaceSubrange(missing, with: Data(count: missing.count))
            let changed = zip(bytes, written.bytes).prefix { $0 == $1 }.count
            if place < 16 {
                // Without its beginning, what follows can't be told from a file of another program.
                if let found = try? read(bytes) { #expect(found.entries == [:]) }
            } else {
                #expect(try read(bytes).entries == written.entries(before: changed))
            }
        }
    }

    @Test func `A changed byte that was on disk is reported`() throws {
        let written = try makeLog(isMarked: true)
        for place in 0..<written.states[3].end {
            for change in [0x01, 0x80, 0xff] as [UInt8] {
                var bytes = written.bytes
                bytes[place] ^= change
                #expect(throws: ValueLog.Damage.self, "byte \(place)") { try read(bytes) }
            }
        }
    }

    @Test("Bytes that were on disk and are missing now, or new ones between them, are reported", arguments: [1, 5, 40])
    func shifted(count: Int) throws {
        let written = try makeLog(isMarked: true)
        let end = written.states[3].end
        for place in 0...end {
            if place + count <= end {
                let bytes = written.bytes.prefix(place) + written.bytes.dropFirst(place + count)
                #expect(throws: ValueLog.Damage.self, "\(count) bytes missing at \(place)") { try read(bytes) }
            }
            let bytes = written.bytes.prefix(place) + Data(repeating: 0x0d, count: count) + written.bytes[place...]
            // What is inserted before the mark may have been written after the sync.
            if place < end {
                #expect(throws: ValueLog.Damage.self, "\(count) bytes inserted at \(place)") { try read(bytes) }
            } else {
                #expect(try read(bytes).entries == written.entries(before: end))
            }
        }
    }

    @Test func `A mark in the value of another file proves nothing`() throws {
        let copied = try makeLog(isMarked: true).bytes
        var log = ValueLog()
        let first = try log.append(Data("one".utf8), "key")
        let second = try log.append(copied, "copy")
        for count in 0..<second.count {
            #expect(try read(first + second.prefix(count)).entries == ["key": Data("one".utf8)])
        }
    }

    @Test("Files of other programs are reported", arguments: ["no log", "EMPVAL2\nother", "{", "bplist00"])
    func otherFiles(_ text: String) {
        #expect(throws: ValueLog.Damage.self) { try read(Data(text.utf8)) }
        #expect(throws: ValueLog.Damage.self) { try read(Data(text.utf8) + Data(count: 100)) }
    }

    @Test func `A record is only valid in its file and at its place`() throws {
        var (one, other) = (ValueLog(), ValueLog())
        let first = try one.append(Data("one".utf8), "key")
        let beginning = first.count
        let second = try one.append(Data("two".utf8), "key")
        let foreign = try other.append(Data("one".utf8), "key") + (try other.append(Data("bad".utf8), "key"))
        #expect(try read(first + second).entries == ["key": Data("two".utf8)])
        #expect(try read(first + second + second).entries == ["key": Data("two".utf8)])
        #expect(try read(first + foreign.dropFirst(beginning)).entries == ["key": Data("one".utf8)])
    }

    @Test func `A log is read in parts as they are appended`() throws {
        let written = try makeLog(isMarked: true)
        var (log, entries, start) = (ValueLog(), [String: Data](), 0)
        for state in written.states.dropFirst() {
            try log.read(written.bytes[start..<state.end]) { entries[$0.name] = $0.data }
            #expect(entries == state.entries)
            start = log.end
        }
        #expect(log.end == written.bytes.count && log.needsSync)
    }
}
