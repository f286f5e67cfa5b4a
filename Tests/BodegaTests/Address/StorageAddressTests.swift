import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@Suite struct StorageAddressTests {

    @Test(
        "An address with a scheme is parsed without looking at its path",
        arguments: [
            ("sqlite:a.txt", .sqlite("a.txt")),
            ("sqlite:/x/y.db#drafts", .sqlite("/x/y.db", collection: "drafts")),
            ("sqlite:a#b#c", .sqlite("a#b", collection: "c")),
            ("sqlite:a#b#", .sqlite("a#b")),
            ("sqlite:100%#%23%25 %C3%A9", .sqlite("100%", collection: "#% é")),
            ("disk:/x/y.db", .disk("/x/y.db")),
            ("disk:disk:a", .disk("disk:a")),
            ("disk:a#b", .disk("a#b")),
            ("memory:", .memory),
            ("postgres://u:p@h:1,h2/d?a=b#c%23", .postgres("postgres://u:p@h:1,h2/d?a=b", collection: "c#")),
            ("postgresql:///d", .postgres("postgresql:///d")),
            ("postgres://#", .postgres("postgres://")),
            ("https://h/a/b#c%23%40", .server("https://h/a/b", collection: "c#@")),
            ("http://127.0.0.1:8080#notes", .server("http://127.0.0.1:8080", collection: "notes")),
            ("HTTPS://[::1]:1/", .server("HTTPS://[::1]:1/")), ("https://h#", .server("https://h")),
            ("https://h#a?b", .server("https://h", collection: "a?b")),
        ] as [(String, StorageAddress)]
    )
    func schemes(_ text: String, meaning: StorageAddress) throws {
        #expect(try StorageAddress(parsing: text) == meaning)
    }

    @Test(
        "The description of an address is parsed as the same address",
        arguments: [
            .sqlite("a"), .sqlite("a#b"), .sqlite("a#"), .sqlite("a", collection: "b"),
            .sqlite("a%25", collection: "%25#"),
            .sqlite("a", collection: "\n ünï"), .disk("a#b"), .disk("/x"), .memory,
            .postgres("postgres://h/d", collection: "a@b"),
            .postgres("postgres://u@h/d?sslmode=require", collection: "a#b"), .postgres("postgresql://h/d#"),
            .server("https://h:1/a", collection: "a@b#?"), .server("http://localhost"),
        ] as [StorageAddress]
    )
    func description(_ address: StorageAddress) throws {
        #expect(try StorageAddress(parsing: address.description) == address)
    }

    @Test(
        "The description of an odd path leads to the same location",
        arguments: [("~/a", "./~/a"), ("//a", "/.//a")]
    )
    func oddPaths(path: String, shown: String) throws {
        #expect(try StorageAddress(parsing: StorageAddress.sqlite(path).description) == .sqlite(shown))
        #expect(try StorageAddress(parsing: StorageAddress.disk(path).description) == .disk(shown))
    }

    @Test("The description of an address with any text is parsed as the same address, byte for byte")
    func hostileTexts() throws {
        for text in HostileTexts.all {
            var addresses: [StorageAddress] = HostileTexts.all.map { .sqlite("x\(text)", collection: $0) }
            addresses += [.sqlite("x\(text)"), .disk("x\(text)"), .sqlite("x.db", collection: text)]
            if !text.isEmpty, text.utf8.first != UInt8(ascii: "/") {
                addresses += [.sqlite(text), .disk(text), .sqlite(text, collection: text)]
            }
            addresses.append(.postgres("postgres://h/d", collection: text))
            addresses.append(.server("https://h/d", collection: text))
            // The text before an @ can be a password, which a description omits.
            if !text.utf8.contains(UInt8(ascii: "@")) {
                addresses.append(.postgres("postgres://h/\(text)", collection: text))
            }
            for address in addresses {
                let read = try StorageAddress(parsing: address.description)
                // An empty name stands for the unnamed collection.
                let collection = address.collection == "" ? nil : address.collection
                #expect(read.engine == address.engine && bytes(read.path) == bytes(address.path))
                #expect(bytes(read.collection) == bytes(collection))
                #expect(bytes(read.connectionURL) == bytes(address.connectionURL))
                #expect(bytes(read.serverURL) == bytes(address.serverURL))
            }
        }
    }

    private func bytes(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }

    @Test("Addresses whose texts differ in any byte are different addresses")
    func equality() {
        let texts = HostileTexts.all
        #expect(Set(texts.map { StorageAddress.sqlite($0) }).count == texts.count)
        #expect(Set(texts.map { StorageAddress.sqlite("a", collection: $0) }).count == texts.count)
        #expect(Set(texts.map { StorageAddress.postgres("postgres://\($0)") }).count == texts.count)
        #expect(StorageAddress.sqlite("caf\u{e9}", collection: "a") == .sqlite("caf\u{e9}", collection: "a"))
    }

    @Test("Separators of an address are recognized even before a combining character")
    func combiningCharacters() throws {
        #expect(try StorageAddress(parsing: "sqlite:\u{301}a").path.utf8.elementsEqual("\u{301}a".utf8))
        let address = try StorageAddress(parsing: "sqlite:a#\u{301}")
        #expect(address.path == "a" && address.collection == "\u{301}")
        #expect { try StorageAddress(parsing: "sqlite://\u{301}a") } throws: {
            ($0 as? StorageError)?.code == .invalidArgument
        }
    }

    @Test("A path with a NUL is rejected, because the system would truncate it")
    func pathsWithNUL() throws {
        let folder = TemporaryFolder()
        for address in [StorageAddress.sqlite(folder.path + "/a\0b"), .disk(folder.path + "\0b")] {
            #expect(code { try address.open() } == .invalidArgument)
            #expect(code { try address.openForReading() } == .invalidArgument)
        }
        #expect(code { try StorageAddress(parsing: folder.path + "\0b") } == .invalidArgument)
        #expect(try folder.names().isEmpty)
    }

    @Test("A leading tilde stands for the home folder")
    func home() throws {
        #expect(try StorageAddress(parsing: "sqlite:~/a").path == NSHomeDirectory() + "/a")
        #expect(try StorageAddress(parsing: "disk:~/a").path == NSHomeDirectory() + "/a")
        #expect(try StorageAddress(parsing: "~/no-such-file.db#c").path == NSHomeDirectory() + "/no-such-file.db")
    }

    @Test("Without a scheme, the file or folder at the path determines the engine, or the extension if there is none")
    func inspection() throws {
        let folder = TemporaryFolder()
        func path(_ name: String, _ content: String) throws -> String {
            try Data(content.utf8).write(to: folder.file(name))
            return folder.file(name).path
        }
        func parse(_ text: String) throws -> StorageAddress { try StorageAddress(parsing: text) }

        #expect(try parse(folder.path) == .disk(folder.path))
        let odd = try path("odd.name", "SQLite format 3\0more")
        #expect(try parse(odd) == .sqlite(odd))
        #expect(try parse(odd + "#c") == .sqlite(odd, collection: "c"))
        let sharp = try path("sharp#c", "SQLite format 3\0more")
        #expect(try parse(sharp) == .sqlite(sharp))
        let empty = try path("empty.db", "")
        #expect(try parse(empty) == .sqlite(empty))
        for name in ["new.sqlite3", "new.sqlite", "new.db", "new.DB"] {
            let new = folder.file(name).path
            #expect(try parse(new) == .sqlite(new))
            #expect(try parse(new + "#c") == .sqlite(new, collection: "c"))
        }
        for name in ["almost.db", "text.db"] {
            let text = try path(name, name == "text.db" ? "text" : "SQLite format 4\0more")
            #expect(code { try parse(text) } == .invalidArgument)
        }
        #expect(code { try parse(folder.path + "#c") } == .invalidArgument)
    }

    @Test(
        "An invalid address is rejected with an error that says what to write instead",
        arguments: [
            ("", "sqlite:PATH"), ("sqlite:", "lacks a path"), ("disk:", "lacks a path"), ("sqlite:#a", "lacks a path"),
            ("memory:a", "Write memory:"), ("sqlite:///a", "sqlite:PATH"), ("disk://a", "disk:PATH"),
            ("sqlite:a#%2", "%25"), ("sqlite:a#%ff", "%25"), ("sqlite:a#50%", "%25"), ("no-such-thing", "disk:PATH"),
            ("ftp:x", "\"ftp\""), ("postgres:host/db", "postgres://"), ("postgres://h/d#%2", "%25"),
            ("https:h", "lacks //"), ("http://u:p@h", "must not have a user"),
            ("https://h?a=b#c", "must not have a query"),
            ("https://h#a#b", "%23"), ("https://h#a@b", "%40"), ("https://", "no valid host"),
            ("https://h:x/", "no valid port"), ("https://h:99999/", "no valid port"), ("https://#a", "no valid host"),
            ("https://h#%2", "%25"),
            ("server:x", "\"server\""),
        ]
    )
    func refused(_ text: String, hint: String) {
        #expect { try StorageAddress(parsing: text) } throws: { error in
            guard let error = error as? StorageError else { return false }
            return error.code == .invalidArgument && error.message.contains(hint)
        }
    }

    @Test(
        "A password is never shown, in any form of the address",
        arguments: [
            ("postgres://u:secret@h/d", "postgres://u@h/d"),
            ("postgres://u:se?secret@h:5/d#c", "postgres://u@h:5/d#c"),
            ("postgres://u:se@secret@h/d", "postgres://u@h/d"),
            ("postgres://u:se/secret@h/d", "postgres://u@h/d"),
            ("postgres://u:se:secret@/d", "postgres://u@/d"),
            ("postgres://:secret@h", "postgres://@h"),
            ("postgresql://u@h,h2:1/d?password=secret&sslmode=require", "postgresql://u@h,h2:1/d?sslmode=require"),
            ("postgresql://h/d?PassWord=secret#c", "postgresql://h/d#c"),
            ("postgres://u:secret@h/d?sslpassword=secret&p%61ssword=secret", "postgres://u@h/d"),
            ("postgres://h/d?application_name=a@b", "postgres://h/d?application_name=a@b"),
            ("postgres://u:secret@\u{301}h/d", "postgres://u@\u{301}h/d"),
            ("postgres://u:\u{301}secret@h/\u{301}d", "postgres://u@h/\u{301}d"),
            ("postgres://\u{301}u:secret@h", "postgres://\u{301}u@h"),
            ("postgres://h/d?\u{301}a=b&\u{301}password=secret", "postgres://h/d"),
        ]
    )
    func secrets(_ text: String, shown: String) throws {
        let address = try StorageAddress(parsing: text)
        #expect(bytes(address.description) == bytes(shown))
        var dumped = ""
        dump(address, to: &dumped)
        for text in ["\(address)", String(reflecting: address), "\([address])", dumped] {
            #expect(!text.contains("secret"))
        }
        #expect(try StorageAddress(parsing: shown).description == shown)
        #expect { try address.open() } throws: { !"\($0)".contains("secret") && "\($0)".contains("BodegaPostgres") }
        #expect { try address.openForReading() } throws: { !"\($0)".contains("secret") }
    }

    @Test(
        "The error about an invalid address does not contain its password",
        arguments: [
            "postgres:u:secret@h/d", "postgress://u:secret@h/d", "postgres://u:secret@h/d#%zz",
            "postgres://u:secret#secret@h/d", "postgres://u:se/secret#%secret@h/d",
            "postgres://u:secret#\u{301}secret@\u{301}h/d", "postgres:/\u{301}/u:secret@h/d",
            "postgres:\u{301}//u:secret@h/d",
        ]
    )
    func secretsInErrors(_ text: String) {
        #expect { try StorageAddress(parsing: text) } throws: { !"\($0)".contains("secret") }
    }

    @Test("The description of a server's address has no user and no query, even if it was not parsed")
    func secretsOfServers() throws {
        for (url, shown) in [
            ("https://secret@h/a", "https://h/a"), ("https://u:secret@h?token=secret", "https://h"),
            ("https://u:se#secret@h:1/a#secret", "https://h:1/a"), ("http://h/?secret", "http://h/"),
            ("https:secret", "https://"),
        ] {
            let address = StorageAddress.server(url, collection: "c")
            var dumped = ""
            dump(address, to: &dumped)
            #expect(address.description == shown + "#c" && address.serverURL == url && address.connectionURL == nil)
            #expect(!dumped.contains("secret"))
            for open in [{ try address.open() }, { try address.openForReading() }] {
                #expect(code(open) == .cannotOpen)
                #expect { try open() } throws: { !"\($0)".contains("secret") && "\($0)".contains("BodegaRemote") }
            }
        }
    }

    @Test("An address opens its engine and collection")
    func opening() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("a#b.db").path
        let drafts = StorageAddress.sqlite(file, collection: "drafts")
        try await drafts.open().write(Data([1]), key: CacheKey("k"))
        #expect(try await drafts.open(mustExist: true).fetchCount() == 1)
        #expect(try await StorageAddress.sqlite(file).open().fetchCount() == 0)
        let disk = StorageAddress.disk(folder.file("items").path)
        try await disk.open(durability: .relaxed).write(Data([1]), key: CacheKey("k"))
        #expect(try await disk.open(mustExist: true).fetchCount() == 1)
        for address in [drafts, disk] {
            let engine = try address.openForReading()
            #expect(try await engine.fetchCount() == 1)
            await #expect(throws: StorageError.self) { try await engine.removeAllData() }
        }
        #expect(code { try StorageAddress.disk(folder.file("absent").path).openForReading() } == .cannotOpen)
        #expect(code { try StorageAddress.memory.openForReading() } == .cannotOpen)
        #expect(try StorageAddress.memory.open() is MemoryStorageEngine)
    }

    @Test("A store that must exist is not created, and files that can't be a store are not changed")
    func mustExist() throws {
        let folder = TemporaryFolder()
        try Data("text".utf8).write(to: folder.file("text"))
        try Data().write(to: folder.file("empty"))
        let names = try folder.names()
        for name in ["absent", "text", "empty", "empty/below"] {
            let path = folder.file(name).path
            #expect(code { try StorageAddress.sqlite(path).open(mustExist: true) } == .cannotOpen)
            #expect(code { try StorageAddress.disk(path).open(mustExist: true) } == .cannotOpen)
        }
        #expect(code { try StorageAddress.sqlite(folder.path).open() } == .cannotOpen)
        #expect(code { try StorageAddress.sqlite(folder.file("text").path).open() } == .cannotOpen)
        #expect(code { try StorageAddress.disk(folder.file("text").path).open() } == .cannotOpen)
        #expect(code { try StorageAddress.memory.open(mustExist: true) } == .cannotOpen)
        #expect(try folder.names() == names)
        #expect(try Data(contentsOf: folder.file("text")) == Data("text".utf8))
    }

    private func code(_ body: () throws -> Any) -> StorageError.Code? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? StorageError)?.code
        }
    }
}
