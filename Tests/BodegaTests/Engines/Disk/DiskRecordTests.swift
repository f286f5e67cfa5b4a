import Foundation
import TestSupport
import Testing

@testable import Bodega

/// The bytes of the record of an item's file.
@Suite struct DiskRecordTests {

    /// The bytes of a record with order 1, created at 2 and updated at 3.
    private func bytes(kind: UInt8, _ key: [UInt8]) -> [UInt8] {
        [1, kind, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0] + key
    }

    private func record(_ key: CacheKey?) -> DiskRecord { DiskRecord(key: key, order: 1, createdAt: 2, updatedAt: 3) }

    private func read(_ bytes: [UInt8]) -> DiskRecord? { bytes.withUnsafeBytes { DiskRecord(bytes: $0) } }

    @Test("A key is stored by its kind and text, and as 16 bytes if the text is a UUID")
    func format() {
        let text = "00112233-4455-6677-8899-AABBCCDDEEFF"
        let packed: [UInt8] = [
            0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF,
        ]
        let expected: [(CacheKey?, [UInt8])] = [
            (CacheKey(verbatim: "ab"), bytes(kind: 1, [97, 98])),
            (CacheKey("ab"), bytes(kind: 0, [97, 98])),
            (nil, bytes(kind: 255, [])),
            (CacheKey(verbatim: text), bytes(kind: 0x11, packed)),
            (CacheKey(verbatim: text.lowercased()), bytes(kind: 0x21, packed)),
            (CacheKey(text), bytes(kind: 0x10, packed)),
            (CacheKey(text.lowercased()), bytes(kind: 0x20, packed)),
        ]
        for (key, bytes) in expected {
            #expect(record(key).bytes == bytes)
            #expect(read(bytes) == record(key))
            #expect(read(bytes)?.key?.rawValue == key?.rawValue)
        }
    }

    @Test(
        "Texts that are almost UUIDs stay as they are",
        arguments: [
            "00112233-4455-6677-8899-AABBCCDDEEFf", "00112233-4455-6677-8899-AABBCCDDEEF",
            "{0112233-4455-6677-8899-AABBCCDDEEF}",
            "00112233-4455-6677-8899-AABBCCDDEEÉ", "00112233-4455-6677-8899-AABBCCDDEEFG",
            "00112233445566778899AABBCCDDEEFF0000",
            " 0112233-4455-6677-8899-AABBCCDDEEFF", "0x112233-4455-6677-8899-AABBCCDDEEFF", "",
        ])
    func almost(text: String) {
        for key in [CacheKey(verbatim: text), CacheKey(text)] {
            #expect(record(key).bytes.dropFirst(26) == Array(text.utf8)[...])
            #expect(read(record(key).bytes)?.key?.rawValue.utf8.elementsEqual(text.utf8) == true)
        }
    }

    @Test("A record with a UUID as text is read")
    func textualUUID() {
        let text = "00112233-4455-6677-8899-AABBCCDDEEFF"
        #expect(read(bytes(kind: 1, Array(text.utf8))) == record(CacheKey(verbatim: text)))
        #expect(read(bytes(kind: 0, Array(text.utf8))) == record(CacheKey(text)))
    }

    @Test("A UUID of another size is no record, and an unknown kind is an unknown key")
    func damaged() {
        for count in [0, 15, 17, 36] { #expect(read(bytes(kind: 0x11, Array(repeating: 65, count: count))) == nil) }
        for kind in [3, 0x13, 0x31, 0x41] as [UInt8] {
            #expect(read(bytes(kind: kind, Array(repeating: 65, count: 16))) == record(nil))
        }
    }

    @Test("The file of an item under a UUID takes no more blocks than the same file without a record")
    func blocks() async throws {
        let folder = TemporaryFolder()
        let data = Data(repeating: 65, count: 150)
        let key = CacheKey(verbatim: UUID().uuidString)
        try DiskFolder(url: folder.file("items"), durability: .full).apply([.write(key: key, data: data)], at: Date())
        try data.write(to: folder.file("plain"))
        func blocks(_ name: String) throws -> Int {
            let descriptor = open(folder.file(name).path, O_RDONLY)
            defer { close(descriptor) }
            // Only then the volume has assigned blocks.
            try #require(descriptor >= 0 && fsync(descriptor) == 0)
            var status = stat()
            try #require(fstat(descriptor, &status) == 0)
            return Int(status.st_blocks)
        }
        #expect(try blocks("items/" + key.rawValue) == blocks("plain"))
    }
}
