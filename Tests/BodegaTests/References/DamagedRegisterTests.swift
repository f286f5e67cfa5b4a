import Bodega
import Foundation
import TestSupport
import Testing

/// References of collections whose names are damaged in the register, or in its index.
@Suite struct DamagedRegisterTests {
    private let folder = TemporaryFolder()
    private let names = ["alpha-collection", "beta-collection"]

    @Test func `What references demand is not ignored`() async throws {
        let template = folder.file("template.sqlite3")
        let item = CacheKey(verbatim: "a")
        do {
            let engine = try SQLiteStorageEngine(openingFile: template)
            let (alpha, beta) = (try engine.collection(named: names[0]), try engine.collection(named: names[1]))
            try await alpha.write(Data(#"{"id":"1"}"#.utf8), key: item)
            try await beta.write(Data(#"{"id":"1","x":"1"}"#.utf8), key: CacheKey(verbatim: "b"))
            try await beta.declareReferences([StorageReference("x", to: names[0], onRemoval: .refuse)])
            try await engine.close()
        }
        let bytes = try Data(contentsOf: template)
        let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
        var damages = 0
        for name in names {
            var start = bytes.startIndex
            while let place = bytes.range(of: Data(name.utf8), in: start..<bytes.endIndex) {
                start = place.upperBound
                // The pages with the name: a leaf of the register, one of its index, and the references themselves.
                let page = bytes[place.lowerBound / pageSize * pageSize..<place.lowerBound]
                let isOfReferences =
                    bytes.range(of: Data("refuse".utf8), in: page.startIndex..<page.startIndex + pageSize) != nil
                if isOfReferences { continue }
                var damaged = bytes
                damaged[place.lowerBound + 3] ^= 1
                let file = folder.file("\(place.lowerBound).sqlite3")
                try damaged.write(to: file)
                damages += 1
                let error = await #expect(throws: StorageError.self, "\(name) at \(place.lowerBound)") {
                    let engine = try SQLiteStorageEngine(openingFile: file)
                    try await engine.collection(named: names[0]).remove(key: item)
                }
                #expect(error?.code == .damaged || error?.code == .referenced, "\(name) at \(place.lowerBound)")
            }
        }
        #expect(damages >= 4)
    }
}
