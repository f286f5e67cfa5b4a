import CodableStoreKit
import Foundation
import TestSupport
import Testing

@testable import CodableStoreKit

@Suite struct NamingTests {

    private let folder = TemporaryFolder()

    /// Names that file systems may confuse with each other, or that have a special meaning.
    private static let difficult = [
        "", ".", "..", "a", "A", "a/b", "a%2Fb", "a%2fb", "a.b", "a:b", "a\\b", " a", "a ", "a.", ".a", "~", "~1", "%",
        "é", "e\u{301}", "É", "ß", "SS", "ss", "\u{0}", "a\u{0}", "Default", "default", "DEFAULT",
        "CodableStoreKit.sqlite3",
        "codablestorekit.sqlite3-wal", "Codablestorekit.Sqlite3", "x.Type", "x.type", "X.Type", "x%2EType", ".Type",
        "..Type",
        ".emporium", ".DS_Store", String(repeating: "long", count: 100), String(repeating: "Long", count: 100),
        String(repeating: "long", count: 101), "👩‍👩‍👧", "a\nb",
    ]

    @Test("Different names have different folder names on every volume, within their parent folder")
    func folderNames() {
        let names = Self.difficult
        let folders = names.map { FolderName.name(of: $0, excluding: ".Type") }
        #expect(Set(folders.map { $0.lowercased() }).count == names.count)
        for folder in folders {
            #expect(!folder.isEmpty && folder.utf8.count <= 200 && !folder.hasPrefix(".") && !folder.contains("/"))
            #expect(!folder.lowercased().hasSuffix(".type"))
            #expect(folder.utf8.allSatisfy { $0 > 0x20 - 1 && $0 < 0x7F })
            #expect(!folder.lowercased().hasPrefix("codablestorekit.sqlite3"))
        }
    }

    @Test("Random names have different folder names on every volume")
    func randomFolderNames() {
        let characters = Array("aAbB./%~ 2FéE\u{301}")
        var generator = SystemRandomNumberGenerator()
        var folders: [String: String] = [:]
        for _ in 0..<20_000 {
            let name = String(
                (0..<Int.random(in: 0...5)).map { _ in
                    characters.randomElement(using: &generator) ?? "a"
                })
            let folder = FolderName.name(of: name).lowercased()
            if let other = folders[folder] { #expect(other.utf8.elementsEqual(name.utf8), "\(folder)") }
            folders[folder] = name
        }
    }

    @Test("Common names stay readable")
    func readableNames() throws {
        #expect(FolderName.name(of: "Default") == "Default")
        #expect(FolderName.name(of: "User Accounts_2") == "User Accounts_2")
        #expect(FolderName.name(of: "users") == "users~1")
        #expect(try CollectionName(of: User.self).folder == "CodableStoreKitTests.User~0809.Type")
        #expect(User.codableStoreCollectionName == "User.Type")
    }

    struct Account: BaseCodableStoreable, Sendable {
        static var codableStoreIdentifier: KeyPath<Account, Int> { \.id }
        let id: Int
    }

    private struct RenamedAccount: BaseCodableStoreable {
        static var codableStoreIdentifier: KeyPath<RenamedAccount, Int> { \.id }
        static var codableStoreCollectionName: String { "CodableStoreKitTests.NamingTests.Account.Type" }
        let id: Int
    }

    @Test("A type that was renamed finds its objects by its former full name", arguments: [false, true])
    func renamedType(isInFiles: Bool) throws {
        func location(_ directory: FileManager.Directory) -> CodableStoreLocation {
            isInFiles ? .fileSystem(in: directory) : .sqlite(in: directory)
        }
        let former = CodableStore<Account>(engine: .at(location(folder.directory)))
        for id in 1...2 { try former.save(Account(id: id)) }
        // In one process, the two are different types.
        let other = CodableStore<RenamedAccount>(engine: .at(location(folder.directory)))
        #expect { try other.getCollection() } throws: { ($0 as? StorageError)?.code == .ambiguousCollection }
        let copy = TemporaryFolder()
        for name in try folder.names() {
            try FileManager.default.copyItem(at: folder.file(name), to: copy.file(name))
        }
        let renamed = CodableStore<RenamedAccount>(engine: .at(location(copy.directory)))
        #expect(try renamed.getCollection().map(\.id).sorted() == [1, 2])
        let again = CodableStore<Account>(engine: .at(location(copy.directory)))
        #expect { try again.getCollection() } throws: { ($0 as? StorageError)?.code == .ambiguousCollection }
    }

    @Test("Containers with any names are separate", arguments: EngineKind.ofRecords)
    func containers(kind: EngineKind) throws {
        let engine: CodableStore<Note>.Engine = try kind.engine(in: folder)
        for (number, name) in Self.difficult.enumerated() {
            try CodableStore(container: .init(name: name), engine: engine).save(Note(id: number, text: name))
        }
        for (number, name) in Self.difficult.enumerated() {
            let found = try CodableStore<Note>(container: .init(name: name), engine: engine).getCollection()
            #expect(found.map(\.id) == [number], "\(name.debugDescription)")
        }
        #expect(try folder.names().allSatisfy { !$0.hasPrefix(".") })
    }

    @Test(
        "Any texts are distinct identifiers, and their files stay in the folder", arguments: EngineKind.ofRecords
    )
    func identifiers(kind: EngineKind) throws {
        let outside = TemporaryFolder()
        let texts = Self.difficult + ["../x", "../../x", "\(outside.path)/x", "CON", "a/../b"]
        let engine: CodableStore<User>.Engine = try kind.engine(in: folder)
        let store = CodableStore<User>(container: "c", engine: engine)
        for text in texts { try store.save(User(id: text, firstName: text, lastName: "")) }
        #expect(try store.getCollection().map(\.id).map { Array($0.utf8) } == texts.map { Array($0.utf8) })
        for text in texts { #expect(try store.get(identifier: text).firstName == text) }
        #expect(try outside.names().isEmpty)
        #expect(try folder.names().count <= 1 || kind == .sqlite)
        for text in texts { try store.delete(identifier: text) }
        #expect(try store.getCollection().isEmpty)
    }

    private struct Keyed<ID: Hashable & Codable>: BaseCodableStoreable {
        static var codableStoreIdentifier: KeyPath<Keyed, ID> { \.id }
        let id: ID
        var value = 0

        static var codableStoreCollectionName: String { "keyed by \(ID.self)" }
    }

    private enum Color: String, Codable { case red, green }
    private struct Place: Hashable, Codable { var row: Int, column: Int }
    private struct Box: Hashable, Codable { var names: Set<String> }

    @Test("Objects with identifiers of every supported type are found again, in files with readable names")
    func identifierTypes() throws {
        func check<ID: Hashable & Codable>(_ ids: [ID], _ names: [String]) throws {
            let store = CodableStore<Keyed<ID>>(engine: .fileSystem(in: folder.directory))
            for (index, id) in ids.enumerated() { try store.save(Keyed(id: id, value: index)) }
            for (index, id) in ids.enumerated() { #expect(try store.get(identifier: id).value == index) }
            let path = folder.file("Default/" + FolderName.name(of: "keyed by \(ID.self)")).path
            let found = try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasPrefix(".") }
            #expect(Set(found) == Set(names))
        }
        let uuid = UUID()
        try check([1, -2], ["1", "-2"])
        try check([0.5, -1e300], ["0.5", "-1e+300"])
        try check([true, false], ["true", "false"])
        try check([uuid], [uuid.uuidString])
        try check([Color.red, .green], ["red", "green"])
        try check([Place(row: 1, column: 2)], [#"{"column":2,"row":1}"#])
        try check(["null", "a", nil] as [String?], [#""null""#, #""a""#, "null"])
        try check([["a"], ["a", "b"]], [#"["a"]"#, #"["a","b"]"#])
    }

    private struct ByPath: BaseCodableStoreable {
        struct ID: Hashable { var number: Int }
        let number: Int
        var id: ID { ID(number: number) }
        static var codableStoreIdentifier: KeyPath<ByPath, ID> { \.id }
        static var codableStoreCollectionName: String { "by path" }
    }

    @Test("Saving an object whose identifier has no stable representation throws an error and writes nothing")
    func unstableIdentifiers() throws {
        let store = CodableStore<ByPath>(engine: .fileSystem(in: folder.directory))
        #expect { try store.save(ByPath(number: 1)) } throws: { ($0 as? StorageError)?.code == .unsupportedIdentifier }
        #expect(store.save([ByPath(number: 1)]).map { ($0.error as? StorageError)?.code } == [.unsupportedIdentifier])
        let boxes = CodableStore<Keyed<Box>>(engine: .fileSystem(in: folder.directory))
        #expect { try boxes.save(Keyed(id: Box(names: ["a", "b"]))) } throws: {
            ($0 as? StorageError)?.code == .unsupportedIdentifier
        }
        #expect(try folder.names().isEmpty)
    }
}
