import Browsing
import Foundation
import Testing

/// The examples as users run them, each in a folder of its own.
@Suite struct ExamplesTests {

    @Test func `Notes are kept, finished and removed`() async throws {
        try await Example.withHome { home in
            #expect(try await Example.run("Notes", in: home) == (0, []))
            #expect(try await Example.run("Notes", "add", "Buy", "milk", in: home) == (0, ["1 • Buy milk"]))
            #expect(
                try await Example.run("Notes", "add", "Buy bread", in: home) == (0, ["1 • Buy milk", "2 • Buy bread"]))
            #expect(try await Example.run("Notes", "done", "1", in: home) == (0, ["1 ✓ Buy milk", "2 • Buy bread"]))
            #expect(try await Example.run("Notes", "clear", in: home) == (0, ["1 • Buy bread"]))
            let wrong = try await Example.run("Notes", "remove", "7", in: home)
            #expect(wrong == (1, [#""7" is not the number of a note. "Notes" lists the notes."#]))
            #expect(try await Example.run("Notes", "remove", "1", in: home) == (0, []))
            for (argument, status) in [("help", 0), ("add", 64), ("typo", 64)] as [(String, Int32)] {
                let usage = try await Example.run("Notes", argument, in: home)
                #expect(usage.status == status && usage.lines.first?.hasPrefix("Usage: Notes") == true)
            }
        }
    }

    @Test func `Notes that another process changes are listed completely`() async throws {
        try await Example.withHome { home in
            #expect(try await Example.run("Notes", "add", "Buy milk", in: home) == (0, ["1 • Buy milk"]))
            let (watch, output) = try Example.process("Notes", ["watch"], in: home)
            try watch.start()
            defer { watch.terminate() }
            func read(until end: String) -> String {
                var text = ""
                while !text.hasSuffix(end) {
                    let data = output.fileHandleForReading.availableData
                    if data.isEmpty { break }
                    text += String(decoding: data, as: UTF8.self)
                }
                return text
            }
            #expect(read(until: "milk\n") == "—\n1 • Buy milk\n")
            #expect(try await Example.run("Notes", "add", "Buy tea", in: home).status == 0)
            #expect(read(until: "tea\n") == "—\n1 • Buy milk\n2 • Buy tea\n")
        }
    }

    @Test func `Contacts are saved, found, archived and removed`() async throws {
        try await Example.withHome { home in
            #expect(try await Example.run("Contacts", "add", "Zora", "1", in: home) == (0, ["saved Zora"]))
            #expect(try await Example.run("Contacts", "add", "Dolly", "2", in: home) == (0, ["saved Dolly"]))
            #expect(try await Example.run("Contacts", "add", "Zora", "3", in: home) == (0, ["saved Zora"]))
            #expect(try await Example.run("Contacts", in: home) == (0, ["Zora 3", "Dolly 2"]))
            #expect(try await Example.run("Contacts", "find", "dol", in: home) == (0, ["Dolly 2"]))
            let archived = try await Example.run("Contacts", "archive", home.path + "/archive", in: home)
            #expect(archived == (0, ["archived 2"]))
            #expect(try await Example.run("Contacts", "add", "Zora", in: home).status == 64)
            #expect(try await Example.run("Contacts", "remove", "Zora", in: home) == (0, ["removed Zora"]))
            let missing = try await Example.run("Contacts", "remove", "Zora", in: home)
            #expect(missing.status == 1 && missing.lines.first?.hasPrefix("notFound") == true)
            #expect(try await Example.run("Contacts", in: home) == (0, ["Dolly 2"]))
        }
    }
}
