#if CommandLineTool
import Foundation
import TestSupport
import Testing

@testable import BodegaCommands

/// Text of any script on a terminal.
@Suite("Text on a terminal")
struct TerminalTextTests {

    /// Python's view of texts: the sum of what the C library says of each character.
    private func columnsByLibrary(_ texts: [String]) async throws -> [Int] {
        let script = """
            import ctypes, json, locale, sys
            locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
            width = ctypes.CDLL(None).wcwidth
            print(json.dumps([sum(width(ctypes.c_wchar(c)) for c in t) for t in json.load(open(sys.argv[1]))]))
            """
        return try await withFolder { folder in
            let file = folder.appendingPathComponent("texts")
            try JSONEncoder().encode(texts).write(to: file)
            let process = Process()
            let output = Pipe.separate()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["python3", "-c", script, file.path]
            process.standardOutput = output
            try process.start()
            return try JSONDecoder().decode([Int].self, from: await process.output(output))
        }
    }

    #if canImport(Glibc)
    @Test("has the width that the C library gives it")
    func widths() async throws {
        let texts = [
            "a", "é", "e\u{301}", "日本語", "ｱ", "Ａ", "한국어", "\u{1112}\u{1161}\u{11AB}", "Ελλάδα", "Привет", "שלום",
            "مرحبا",
            "नमस्ते".filter { $0.unicodeScalars.count == 1 }, "😀", "🚀 x", "，", "　", "→", "½", "ﾊﾟ", "ไทย", "䷀", "𠀀",
            "🈁", "㊗", "①",
        ]
        #expect(try await columnsByLibrary(texts) == texts.map(TerminalWidth.columns))
        // By Unicode 15 emoji sequences are one picture, which is two columns wide; the C library adds up its parts.
        for emoji in ["👍🏽", "👩‍💻", "🇩🇪", "❤️", "👨‍👩‍👧‍👦"] { #expect(TerminalWidth.columns(of: emoji) == 2, "\(emoji)") }
        // Nearly all characters of the blocks with wide ones; the versions of Unicode may differ in a few.
        let blocks: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0xA0...0x2FF, 0x2E80...0x303F, 0x3041...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3,
            0xF900...0xFAFF,
            0xFF00...0xFFEF, 0x1F300...0x1F64F, 0x20000...0x20100,
        ]
        let scalars = blocks.joined().compactMap(Unicode.Scalar.init).filter {
            $0.properties.generalCategory != .unassigned
        }
        let all = scalars.map { String($0) }
        let differences = zip(all, try await columnsByLibrary(all)).filter {
            $1 >= 0 && TerminalWidth.columns(of: $0) != $1
        }
        #expect(differences.count * 500 < all.count, "\(differences.map(\.0).joined(separator: " "))")
    }
    #endif

    @Test("is aligned in a table in any script")
    func aligned() async throws {
        let keys = ["a", "日本語", "e\u{301}e\u{301}", "😀", "한국"]
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let lines = keys.map { #"{"id":"\#($0)","n":7}"# }.joined(separator: "\n")
            _ = await bodega("import", store, "--key", "id", input: Array(lines.utf8))
            let terminal = try Terminal(BinaryTests.program, ["query", store, "--select", "n", "--color", "never"])
            let rows = await terminal.finish().output.split(separator: "\n").dropFirst()
            #expect(rows.count == keys.count)
            // What precedes the value takes up the same number of columns in each row: two after the widest key.
            let heads = rows.map { String($0.prefix { $0 != "7" }) }
            #expect(try await columnsByLibrary(heads) == Array(repeating: 8, count: keys.count))
        }
    }

    @Test("of a long key leaves room for the values in a narrow terminal", arguments: [20, 40, 60] as [UInt16])
    func narrow(columns: UInt16) async throws {
        let keys = [String(repeating: "k", count: 300), String(repeating: "語", count: 100), "short"]
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let lines = keys.map { #"{"id":"\#($0)","n":1815,"x":"second value"}"# }.joined(separator: "\n")
            _ = await bodega("import", store, "--key", "id", input: Array(lines.utf8))
            let terminal = try Terminal(
                BinaryTests.program, ["query", store, "--select", "n", "--select", "x", "--color", "never"],
                columns: columns)
            let rows = await terminal.finish().output.split(separator: "\n").map(String.init)
            #expect(rows.count == 4)
            for row in rows.dropFirst() { #expect(row.contains("1815  se"), "\(row)") }
            #expect(try await columnsByLibrary(rows).allSatisfy { $0 <= Int(columns) })
        }
    }

    @Test("of a key is escaped in JSON, and is the same JSON")
    func json() async throws {
        // C1 controls, DEL, all characters of UAX #9 that change the direction of text, and separators.
        let scalars: [UInt32] =
            Array(0x7F...0x9F) + [0x61C, 0x200E, 0x200F] + Array(0x2028...0x202E) + Array(0x2066...0x2069)
        let key = "k" + String(String.UnicodeScalarView(scalars.compactMap(Unicode.Scalar.init))) + "é日\"\\\u{1B}"
        let value = String(decoding: try JSONEncoder().encode(["id": key, "x": "\u{9B}2J"]), as: UTF8.self)
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("import", store, "--key", "id", input: Array(value.utf8))
            _ = await bodega("put", store, "raw", input: Array("\u{9B}\n\u{202E}".utf8))
            for arguments in [
                ["ls", store, "--json"], ["ls", store, "--json", "--long"], ["get", store, "--json", "raw"],
                ["query", store, "--json"], ["export", store], ["diff", store, folder.path + "/other", "--json"],
                ["verify", store, "--json", "--expect-json", "--color", "always"],
            ] {
                _ = await bodega("put", "disk:\(folder.path)/other", "x", input: [1])
                let shown = await (try Terminal(BinaryTests.program, arguments, columns: 2000)).finish().output
                let isRaw = shown.unicodeScalars.contains { scalars.contains($0.value) }
                #expect(!isRaw, "\(arguments)")
                let test = TestConsole()
                _ = await Tool.run(arguments, console: test.console)
                // The same objects as without a terminal, as Foundation reads them.
                let objects = try [shown, test.output.text].map { text in
                    // Other lines are notes, and before an object there may be the remains of a bar.
                    try text.split(separator: "\n").map { $0.drop { $0 != "{" } }.filter { !$0.isEmpty }.map { line in
                        try #require(
                            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary)
                    }
                }
                #expect(!objects[0].isEmpty && objects[0] == objects[1], "\(arguments)")
            }
        }
    }

    @Test("is shown without marks that change its direction by all other commands")
    func plain() async throws {
        let key = "a\u{200F}b\u{61C}c\u{9B}d"
        try await withFolder { folder in
            let (store, other) = (storeAddresses[0](folder), storeAddresses[1](folder))
            _ = await bodega("put", store, key, input: Array("{}".utf8))
            _ = await bodega("put", other, "x", input: [1])
            for arguments in [
                ["ls", store], ["ls", "--long", store], ["diff", store, other], ["query", store],
                ["get", store, key + "x"],
                ["verify", other, "--expect-json"],
            ] {
                let shown = await (try Terminal(BinaryTests.program, arguments + [], columns: 200)).finish().output
                #expect(!shown.unicodeScalars.contains { [0x200F, 0x61C, 0x9B].contains($0.value) }, "\(arguments)")
                if arguments.contains(store) { #expect(shown.contains("a\\u{200F}b\\u{61C}c\\u{9B}d")) }
            }
        }
    }
}
#endif
