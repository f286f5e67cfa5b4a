import BodegaTesting
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Objects are distinguished by the bytes of their identifiers' texts, everywhere.
@Suite struct IdentityTests {

    private let folder = TemporaryFolder()
    private static let texts = HostileTexts.all
    private static let ofRecords: [EngineKind] = [.files, .memory, .sqlite, .sharedSQLite]

    /// An object whose identifier has no static type.
    private struct Mixed: CodableStoreable, Equatable {
        var text: String?
        var number: Double?

        var id: AnyHashable {
            if let text { return AnyHashable(text) }
            guard let number else { return AnyHashable(UUID(uuid: noUUID)) }
            return Int(exactly: number).map { AnyHashable($0) } ?? AnyHashable(number)
        }

        static var codableStoreIdentifier: KeyPath<Mixed, AnyHashable> { \.id }
        static var codableStoreCollectionName: String { "Mixed" }
    }

    @Test("Stores distinguish objects whose identifiers differ in any byte", arguments: ofRecords)
    func stores(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        let users = Self.texts.map { User(id: $0, firstName: $0, lastName: "") }
        #expect(store.save(users).allSatisfy { $0.error == nil })
        #expect(bytes(try store.getCollection().map(\.firstName)) == bytes(Self.texts))
        for text in Self.texts { #expect(bytes([try store.get(identifier: text).firstName]) == bytes([text])) }
        #expect(bytes(store.delete(identifiers: Self.texts).compactMap(\.object?.id)) == bytes(Self.texts))
        #expect(try store.getCollection().isEmpty)
    }

    @Test("An observer of an identifier is not called for an identifier that differs in a byte", arguments: ofRecords)
    func observers(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        let received = Locked<[[UInt8]: [String]]>([:])
        for text in Self.texts {
            store.observe(identifier: text) { event in
                received.withLock { $0[Array(text.utf8), default: []].append(event.object.firstName) }
            }
        }
        for text in Self.texts { try store.save(User(id: text, firstName: text, lastName: "")) }
        let calls = received.withLock { $0 }
        #expect(calls.count == Self.texts.count)
        for (text, names) in calls { #expect(names.map { Array($0.utf8) } == [text]) }
    }

    @MainActor
    @Test("A controller distinguishes objects whose identifiers differ in any byte", arguments: ofRecords)
    func controllers(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        let controller = PlainController(store)
        #expect(controller.codableStoreables.isEmpty)
        for text in Self.texts { try store.save(User(id: text, firstName: text, lastName: "")) }
        #expect(bytes(controller.codableStoreables.map(\.firstName)) == bytes(Self.texts))
        for text in Self.texts.dropFirst(2) { try store.delete(identifier: text) }
        #expect(bytes(controller.codableStoreables.map(\.firstName)) == bytes(Array(Self.texts.prefix(2))))
    }

    @Test("Identifiers without a static type are distinguished by their dynamic types", arguments: EngineKind.allCases)
    func erasedTypes(kind: EngineKind) throws {
        let store = CodableStore<Mixed>(engine: try kind.engine(in: folder))
        let null = UUID(uuid: noUUID)
        let all = [
            Mixed(text: "1"), Mixed(number: 1), Mixed(number: 1.5), Mixed(text: "1.5"), Mixed(),
            Mixed(text: null.uuidString),
        ]
        #expect(store.save(all).allSatisfy { $0.error == nil })
        #expect(try store.getCollection() == all)
        for object in all { #expect(try store.get(identifier: object.id) == object) }
        // Equal numbers of different types are the same identifier.
        #expect(try store.get(identifier: AnyHashable(1 as UInt8)) == Mixed(number: 1))
        #expect(try store.get(identifier: AnyHashable(1.0)) == Mixed(number: 1))
        #expect(!store.exists(identifier: AnyHashable(2)))
        #expect(try store.delete(identifier: AnyHashable(1)) == Mixed(number: 1))
        #expect(try store.getCollection().count == all.count - 1)
    }

    @Test("Copying returns a failure for each object that cannot be decoded", arguments: EngineKind.onDisk)
    func copyingUndecodable(kind: EngineKind) async throws {
        let engine: CodableStore<User>.Engine
        let records: any StorageEngine
        if kind == .files {
            try CodableStore<User>(engine: .fileSystem(in: folder.directory)).save(User(1))
            let collection = try #require(try folder.file("Default").contents().first)
            records = try DiskStorageEngine(opening: .init(url: collection))
            try await records.write(Data("{".utf8), key: CacheKey(verbatim: "e\u{301}"))
            engine = .fileSystem(in: folder.directory)
        } else {
            let shared = try SQLiteStorageEngine(opening: folder.directory)
            try await shared.write(Data("{".utf8), key: CacheKey("e\u{301}"))
            engine = .sqlite(shared)
            try CodableStore<User>(engine: engine).save(User(1))
        }
        let target = CodableStore<User>(engine: .at(.memory()))
        let results = try CodableStore<User>(engine: engine).copy(toStore: target)
        #expect(try target.getCollection() == [User(1)])
        #expect(results.compactMap(\.object) == [User(1)])
        let failures = results.compactMap { result -> (id: String, code: StorageError.Code?)? in
            if case .failure(let id, let error) = result { (id, (error as? StorageError)?.code) } else { nil }
        }
        #expect(bytes(failures.map(\.id)) == bytes(["e\u{301}"]) && failures.map(\.code) == [.decodingFailed])
    }

    @Test("Copying throws if the name of an undecodable file is not an identifier, after it has copied the others")
    func copyingForeignFiles() async throws {
        let source = CodableStore<Note>(engine: .fileSystem(in: folder.directory))
        source.save([Note(id: 1, text: "one"), Note(id: 2, text: "two")])
        let collection = try #require(try folder.file("Default").contents().first)
        try Data("{".utf8).write(to: collection.appendingPathComponent("no number"))
        try Data("{".utf8).write(to: collection.appendingPathComponent("2"))
        let target = CodableStore<Note>(engine: .at(.memory()))
        #expect { try source.copy(toStore: target) } throws: { error in
            guard let error = error as? StorageError else { return false }
            return error.code == .decodingFailed && error.file?.lastPathComponent == "no number"
        }
        #expect(try target.getCollection().map(\.id) == [1])
    }

    private func bytes(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }
}

private let noUUID: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

extension URL {
    fileprivate func contents() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: self, includingPropertiesForKeys: nil)
            .filter { !$0.lastPathComponent.hasPrefix(".") }
    }
}
