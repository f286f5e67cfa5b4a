#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import Testing

@Suite("References in the tool")
struct ReferenceCommandTests {

    /// Runs a closure with the path of a file with folders, notes and albums.
    private func withLibrary(_ body: (String, SQLiteStorageEngine) async throws -> Void) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("library.db")
            let engine = try SQLiteStorageEngine(openingFile: file)
            let (notes, albums) = (try engine.collection(named: "notes"), try engine.collection(named: "albums"))
            try await notes.declareReferences([StorageReference("folder.id", to: "", onRemoval: .remove)])
            try await albums.declareReferences([
                StorageReference("notes", isList: true, to: "notes", targetPath: "number", onRemoval: .clear)
            ])
            try await engine.write(Data(#"{"id":"work","name":"Work"}"#.utf8), key: CacheKey("work"))
            // Under a key that does not follow from its identifier.
            try await engine.write(Data(#"{"id":"home","name":"Home"}"#.utf8), key: CacheKey(verbatim: "h"))
            for (number, folder) in [#""work""#, #""home""#, #""gone""#, "null"].enumerated() {
                let note = #"{"number":\#(number),"folder":{"id":\#(folder)}}"#
                try await notes.write(Data(note.utf8), key: CacheKey(verbatim: "\(number)"))
            }
            try await albums.write(Data(#"{"notes":[3,0,7,0]}"#.utf8), key: CacheKey(verbatim: "album"))
            try await body(file.path, engine)
        }
    }

    @Test("are printed by stat")
    func stat() async throws {
        try await withLibrary { file, _ in
            let notes = await bodega("stat", file, "--collection", "notes")
            #expect(notes.text.contains("reference   folder.id -> (unnamed), remove\n"), "\(notes)")
            let albums = await bodega("stat", file, "--collection", "albums", "--json")
            #expect(albums.text.contains(#""references":["notes[] -> notes by number, clear"]"#), "\(albums)")
            #expect(await !bodega("stat", file).text.contains("reference"))
        }
    }

    @Test("are followed by query --include")
    func include() async throws {
        try await withLibrary { file, _ in
            let notes = await bodega(
                "query", file, "--collection", "notes", "--select", "number", "--include", "folder.id", "--json")
            #expect(
                notes.text == """
                    {"key":"0","kind":"verbatim","json":{"number":0},"included":{"folder.id":{"id":"work","name":"Work"}}}
                    {"key":"1","kind":"verbatim","json":{"number":1},"included":{"folder.id":{"id":"home","name":"Home"}}}
                    {"key":"2","kind":"verbatim","json":{"number":2},"included":{"folder.id":null}}
                    {"key":"3","kind":"verbatim","json":{"number":3},"included":{"folder.id":null}}

                    """)
            let twice = await bodega(
                "query", file, "--collection", "notes", "--select", "number", "--include", "folder.id", "--include",
                "folder.id", "--json")
            #expect(twice.text == notes.text)
            let albums = await bodega("query", file, "--collection", "albums", "--include", "notes")
            #expect(
                albums.text == """
                    album\t{"notes":[3,0,7,0]}\t[{"number":3,"folder":{"id":null}},\
                    {"number":0,"folder":{"id":"work"}},{"number":0,"folder":{"id":"work"}}]

                    """)
            let unknown = await bodega("query", file, "--collection", "notes", "--include", "number")
            #expect(unknown.status == 64 && unknown.errors.contains("folder.id"), "\(unknown)")
            let none = await bodega("query", file, "--include", "number")
            #expect(none.status == 64 && none.errors.contains("bodega stat"), "\(none)")
        }
    }

    @Test("lead to no encrypted item, which is said")
    func encrypted() async throws {
        try await withLibrary { file, engine in
            try await engine.encrypted(with: EncryptionKeyset()).write(
                Data(#"{"id":"gone"}"#.utf8), key: CacheKey(verbatim: "secret"))
            let include = ["query", file, "--collection", "notes", "--select", "number", "--include", "folder.id"]
            let notes = await bodega(arguments: include + ["--json"])
            #expect(notes.status == 1 && notes.errors.contains("secret"), "\(notes)")
            #expect(notes.text.contains(#""number":1},"included":{"folder.id":{"id":"home""#), "\(notes)")
            #expect(notes.text.contains(#""number":2},"included":{"folder.id":null}"#), "\(notes)")
            // All that is named was found, so the others don't matter.
            let found = await bodega(arguments: include + ["--where", "@.number == 0"])
            #expect(found.status == 0 && found.errors.isEmpty, "\(found)")
            let keyset = URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent("keyset").path
            #expect(await bodega("keyset", "create", keyset).status == 0)
            let secrets = [file, "--collection", "secrets", "--keyset", keyset]
            #expect(
                await bodega(arguments: ["put", file, "k"] + secrets.dropFirst(), input: Array("{}".utf8)).status == 0)
            let decrypted = await bodega(arguments: ["query"] + secrets + ["--include", "number"])
            #expect(decrypted.status == 64 && decrypted.errors.contains("encrypted items"), "\(decrypted)")
        }
    }

    @Test("are dangling in a list where it names what does not exist, and not where it has null")
    func nullInList() async throws {
        try await withLibrary { file, engine in
            let albums = try engine.collection(named: "albums")
            try await albums.write(Data(#"{"notes":[null,"\"q\""]}"#.utf8), key: CacheKey(verbatim: "odd"))
            let lines = await bodega("verify", file, "--collection", "albums").text.split(separator: "\n")
            let odd = lines.filter { $0.contains("odd") }
            #expect(odd.count == 1 && odd[0].contains(#""\"q\"""#), "\(lines)")
        }
    }

    @Test("are examined by verify, and kept when the tool removes an item")
    func verify() async throws {
        try await withLibrary { file, _ in
            let before = await bodega("verify", file)
            #expect(before.status == 0, "Dangling references are no damage.")
            #expect(before.text.split(separator: "\n").count { $0.hasPrefix("remark: ") } == 2, "\(before)")
            #expect(before.text.contains(#"names "gone" in its member "folder.id""#), "\(before)")
            #expect(before.text.contains(#"names 7 in its member "notes""#), "\(before)")
            #expect(await bodega("rm", file, "work").status == 0)
            #expect(await bodega("count", file, "--collection", "notes").text == "3\n")
            let album = await bodega("get", file, "--collection", "albums", "--verbatim", "album")
            #expect(album.text == #"{"notes":[3,7]}"#, "\(album)")
            #expect(await bodega("verify", file, "--collection", "notes").text.contains("gone"))
        }
    }

    @Test("are not said to be dangling while items that they can name are encrypted")
    func encryptedTarget() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("library.db")
            let keyset = folder.appendingPathComponent("keyset").path
            #expect(await bodega("keyset", "create", keyset).status == 0)
            let item = Array(#"{"id":"f"}"#.utf8)
            let put = ["put", file.path, "--collection", "folders", "--keyset", keyset, "f"]
            #expect(await bodega(arguments: put, input: item).status == 0)
            let notes = try SQLiteStorageEngine(openingFile: file).collection(named: "notes")
            try await notes.declareReferences([StorageReference("folder", to: "folders", onRemoval: .clear)])
            try await notes.write(Data(#"{"folder":"f"}"#.utf8), key: CacheKey("1"))
            try await notes.write(Data(#"{"folder":"gone"}"#.utf8), key: CacheKey("2"))
            let found = await bodega("verify", file.path)
            #expect(found.status == 0 && !found.text.contains("names"), "\(found)")
            #expect(found.text.contains(#"no readable item for 2 references of the collection "notes""#), "\(found)")
        }
    }

    @Test("are not copied with the items, which the tool says unless they are declared there")
    func copy() async throws {
        try await withLibrary { file, _ in
            let (source, copy) = ("sqlite:\(file)#notes", "sqlite:\(file).copy#notes")
            let first = await bodega("copy", source, copy)
            #expect(
                first.status == 0 && first.errors.contains(#"the references "folder.id" are not copied"#), "\(first)")
            let engine = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: file + ".copy"))
            try await engine.collection(named: "notes").declareReferences([
                StorageReference("folder.id", to: "", onRemoval: .remove)
            ])
            let second = await bodega("copy", source, copy)
            #expect(second.status == 0 && !second.errors.contains("references"), "\(second)")
            #expect(await bodega("copy", source, copy + "2", "--quiet").errors == "")
        }
    }

    @Test("refuse a removal by the tool, with the reason")
    func refusal() async throws {
        try await withLibrary { file, engine in
            try await engine.collection(named: "notes").declareReferences([
                StorageReference("folder.id", to: "", onRemoval: .refuse)
            ])
            let result = await bodega("rm", file, "work")
            #expect(result.status == 1 && result.errors.contains("folder.id"), "\(result)")
            #expect(await bodega("count", file).text == "2\n")
        }
    }
}
#endif
