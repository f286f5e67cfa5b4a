import Bodega
import Foundation
import Observation
import TestSupport
import Testing

@testable import Boutique

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@Suite struct StoredValueFailureTests {
    let place = ValuePlace()

    @Test func `Defect 12: a value that cannot be encoded is reported, and the previous value is unchanged`() throws {
        let value = place.value(Unencodable(number: 0))
        value.set(Unencodable(number: 1))
        let seen = Record<Unencodable>()
        let subscription = value.publisher.sink { seen.add($0) }
        let reports = Record<String>()
        withObservationTracking {
            #expect(value.lastError == nil)
        } onChange: {
            reports.add("error")
        }

        value.set(Unencodable(number: .infinity))
        #expect(value.lastError?.code == .encodingFailed)
        #expect(value.lastError?.key == CacheKey(verbatim: "value"))
        #expect(reports.elements == ["error"])
        #expect(value.wrappedValue.number == 1)
        #expect(try place.text() == #"{"value":{"number":1}}"#)
        #expect(seen.elements.map(\.number) == [1])

        value.set(Unencodable(number: 2))
        #expect(value.lastError == nil)
        #expect(value.wrappedValue.number == 2)
        subscription.cancel()
    }

    @Test func `Defect 12: bytes that cannot be decoded are reported, and kept when the value is set`() throws {
        let newer = #"{"value":{"format":2}}"#
        try place.put(newer)
        let value = place.value(7)
        #expect(value.wrappedValue == 7)
        #expect(value.lastError?.code == .decodingFailed)
        #expect(try value.undecodableData() == [Data(newer.utf8)])
        #expect(try place.text() == newer)

        value.set(8)
        #expect(value.lastError == nil)
        #expect(value.wrappedValue == 8)
        #expect(try place.text() == #"{"value":8}"#)
        #expect(try place.text("value.undecodable") == newer)
        #expect(try value.undecodableData() == [Data(newer.utf8)])
    }

    @Test func `The Observation framework is notified when undecodable bytes are replaced`() throws {
        try place.put("broken")
        let value = place.value(7)
        #expect(value.wrappedValue == 7)
        let reports = Record<String>()
        withObservationTracking {
            #expect(value.lastError?.code == .decodingFailed)
        } onChange: {
            reports.add("changed")
        }
        value.set(8)
        #expect(reports.elements == ["changed"])
        #expect(value.lastError == nil)
    }

    @Test func `Another failed read does not change the error`() throws {
        let place = ValuePlace(isWatched: false)
        try Data("no property list".utf8).write(to: place.url)
        let value = place.value(7)
        #expect(value.wrappedValue == 7)
        let reports = Record<String>()
        withObservationTracking {
            #expect(value.lastError?.code == .damaged)
        } onChange: {
            reports.add("changed")
        }
        #expect(value.wrappedValue == 7)
        #expect(reports.elements == [])
        try FileManager.default.removeItem(at: place.url)
        #expect(value.wrappedValue == 7)
        #expect(reports.elements == ["changed"])
        #expect(value.lastError == nil)
    }

    @Test func `Undecodable bytes that were kept are never overwritten by other ones`() throws {
        let value = place.value(7)
        let broken = ["one", "two", "one", "three"]
        for bytes in broken {
            try place.put(bytes)
            value.modify { $0 += 1 }
            #expect(value.wrappedValue == 8)
        }
        #expect(try value.undecodableData() == ["one", "two", "three"].map { Data($0.utf8) })
        #expect(try place.text("value.undecodable-2") == "two")

        try place.put("four")
        try value.removeUndecodableData()
        #expect(try value.undecodableData() == [Data("four".utf8)])
        for name in ["value.undecodable", "value.undecodable-2", "value.undecodable-3"] {
            #expect(try place.text(name) == nil)
        }
    }

    @Test func `A value that cannot be encoded does not move undecodable bytes`() throws {
        try place.put("broken")
        let value = place.value(Unencodable(number: 0))
        value.set(Unencodable(number: .nan))
        #expect(value.lastError?.code == .encodingFailed)
        #expect(try place.text() == "broken")
        #expect(try place.text("value.undecodable") == nil)
    }

    @Test func `A damaged file is not treated as empty and not overwritten`() throws {
        let damaged = Data("no property list".utf8)
        try damaged.write(to: place.url)
        let value = place.value(7)
        #expect(value.wrappedValue == 7)
        #expect(value.lastError?.code == .damaged)
        value.set(8)
        #expect(value.wrappedValue == 7)
        #expect(value.lastError?.code == .damaged)
        #expect(try Data(contentsOf: place.url) == damaged)

        try FileManager.default.removeItem(at: place.url)
        value.set(9)
        #expect(value.wrappedValue == 9)
        #expect(value.lastError == nil)
    }

    @Test(
        "A full or read-only volume is reported, and the previous value is unchanged", .enabled(if: Volume.canMount))
    func volume() throws {
        let volume = try Volume(at: place.folder, size: "1m")
        defer { volume.unmount() }
        let value = place.value("default")
        value.set("first")
        value.set(String(repeating: "x", count: 3_000_000))
        #expect(value.lastError?.code == .storageFull)
        #expect(value.wrappedValue == "first")
        value.set("second")
        #expect(value.lastError == nil)
        try volume.makeReadOnly()
        value.set("third")
        #expect(value.lastError?.code == .readOnly)
        #expect(value.wrappedValue == "second")
        #expect(place.value("default").wrappedValue == "second")
    }

    @Test func `A failed write is reported, and the previous value is unchanged`() throws {
        let value = place.value(0)
        value.set(1)
        let moved = place.folder.file("moved")
        try FileManager.default.moveItem(at: place.url, to: moved)
        // A folder in place of the file, which not even root can open for writing.
        try FileManager.default.createDirectory(at: place.url, withIntermediateDirectories: false)
        value.set(2)
        #expect(value.lastError != nil)
        #expect(value.wrappedValue == 1)
        try FileManager.default.removeItem(at: place.url)
        try FileManager.default.moveItem(at: moved, to: place.url)
        value.set(3)
        #expect(value.wrappedValue == 3)
        #expect(value.lastError == nil)
    }
}
