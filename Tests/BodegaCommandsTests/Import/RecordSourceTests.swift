@testable import BodegaCommands
import Bodega
import Foundation
import Testing

@Suite("Records")
struct RecordSourceTests {

    private func read(
        _ text: String,
        key: String = "id",
        array: String? = nil,
        format: ImportInput.Format = .auto,
        piece: Int = 3
    ) throws -> [String] {
        let array = try array.map(JSONPath.init(parsing:))
        let key = try JSONPath(parsing: key)
        let input = ImportInput(path: nil, format: format, array: array, key: key, keyKind: .hashed)
        var source = try input.records(standardInput: MemorySource(Array(text.utf8), piece: piece))
        var result: [String] = []
        while let record = try source.next() {
            result.append("\(record.key.rawValue)=\(String(decoding: record.data, as: UTF8.self))")
        }
        return result
    }

    @Test("on lines keep their bytes, without the whitespace around them", arguments: [1, 2, 5, 1000])
    func lines(piece: Int) throws {
        let text = "\u{FEFF}{\"id\":\"a\",  \"x\": 1.0}\r\n\n  {\"id\" : 2}\t\n{\"id\":\"\\u00e9\"}"
        #expect(
            try read(text, piece: piece) == [#"a={"id":"a",  "x": 1.0}"#, #"2={"id" : 2}"#, #"é={"id":"\u00e9"}"#]
        )
    }

    @Test("on a line longer than any chunk are read")
    func longLine() throws {
        let long = #"{"x":""# + String(repeating: "y", count: 2_500_000) + #"","id":"a"}"#
        #expect(try read(long + "\n" + long, piece: 1 << 16) == ["a=\(long)", "a=\(long)"])
    }

    @Test("of an array keep their bytes", arguments: [1, 2, 5, 1000])
    func array(piece: Int) throws {
        let text = " [ {\"id\":1,\n\"x\":[ ]} , {\"id\":\"b\"}\n]\n "
        #expect(try read(text, piece: piece) == ["1={\"id\":1,\n\"x\":[ ]}", #"b={"id":"b"}"#])
        #expect(try read("[]", piece: piece).isEmpty)
    }

    @Test("of an array within a document are found past other members and before them")
    func nestedArray() throws {
        let text = #"{"a":{"d":[9]},"a.b":0,"639-3":{"x":"]","list":[{"id":1}],"z":{}},"end":[{}]}"#
        #expect(try read(text, array: "639-3.list") == [#"1={"id":1}"#])
    }

    @Test(
        "of a damaged or truncated document end the import",
        arguments: [
            #"[{"id":1}"#, #"[{"id":1},]"#, #"[{"id":1} {"id":2}]"#, #"[{"id":1}] x"#, #"[{"id":1}]]"#,
            #"[{"id":1},{"id":]"#,
        ]
    )
    func damagedArrays(_ text: String) {
        #expect { try read(text) } throws: { ($0 as? ToolError)?.status == .badInput }
    }

    @Test(
        "of an array that is not where it should be end the import",
        arguments: [#"{"a":{}}"#, #"{"a":[]}"#, #"{"a":{"b":{}}}"#, "{}", "[]", #"{"a":{"b":[]}"#, ""]
    )
    func missingArray(_ text: String) {
        #expect { try read(text, array: "a.b") } throws: { ($0 as? ToolError)?.status == .badInput }
    }

    @Test("continue after a bad line, which is named")
    func badLines() throws {
        let text = "{\"id\":1}\n{\"id\":\n{\"x\":1}\n{\"id\":null}\n{\"id\":\"\\ud800\"}\n{\"id\":2} 3\n{\"id\":4}\n"
        let input = ImportInput(
            path: nil, format: .ndjson, array: nil, key: try JSONPath(parsing: "id"), keyKind: .hashed)
        var source = try input.records(standardInput: MemorySource(Array(text.utf8)))
        var good: [String] = []
        var bad: [Int?] = []
        while true {
            do {
                guard let record = try source.next() else { break }
                good.append(record.key.rawValue)
            } catch let record as BadRecord {
                bad.append(record.number)
            }
        }
        #expect(good == ["1", "4"])
        #expect(bad == [2, 3, 4, 5, 6])
    }

    @Test("with a field named key are not taken for an export")
    func ownKeyField() throws {
        #expect(try read(#"{"key":"a","json":1}"#, key: "key") == [#"a={"key":"a","json":1}"#])
    }

    @Test("of a folder that can't be read are bad, with the reason, and the others are read")
    func unreadableFile() async throws {
        try await withFolder { folder in
            for name in ["a", "b", "c"] { try Data(name.utf8).write(to: folder.appendingPathComponent(name)) }
            var source = try FolderRecords(root: folder)
            #expect(try source.next()?.key == CacheKey(verbatim: "a"))
            try FileManager.default.removeItem(at: folder.appendingPathComponent("b"))
            do {
                _ = try source.next()
                Issue.record("A file that is gone was read.")
            } catch let bad as BadRecord {
                #expect(bad.place == "b")
                #expect(bad.reason == "It can't be read: No such file or directory.")
                #expect(bad.status == .failure)
            }
            #expect(try source.next()?.key == CacheKey(verbatim: "c"))
            #expect(try source.next() == nil)
        }
    }

    @Test("of a folder are its files, under their relative paths")
    func folder() async throws {
        try await withFolder { folder in
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("sub/deep"),
                withIntermediateDirectories: true
            )
            for name in ["b", "a é", ".hidden", "sub/c", "sub/deep/d"] {
                try Data(name.utf8).write(to: folder.appendingPathComponent(name))
            }
            try FileManager.default.createSymbolicLink(
                at: folder.appendingPathComponent("sub/loop"),
                withDestinationURL: folder
            )
            var source = try FolderRecords(root: folder)
            var records: [ImportRecord] = []
            while let record = try source.next() { records.append(record) }
            let names = [".hidden", "a é", "b", "sub/c", "sub/deep/d"]
            #expect(records == names.map { ImportRecord(key: CacheKey(verbatim: $0), data: Data($0.utf8)) })
        }
    }
}
