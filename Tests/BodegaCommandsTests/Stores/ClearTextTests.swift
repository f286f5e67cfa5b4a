#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import TestSupport
import Testing

@Suite("Clear text")
struct ClearTextTests {

    @Test("is not written among encrypted items without a keyset", arguments: storeAddresses)
    func withoutKeyset(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder, address)
            let plain = folder.appendingPathComponent("plain.db").path
            _ = await bodega("put", plain, "c", input: [1])
            let export = await bodega("export", plain).output
            for result in [
                await bodega("put", place.store, "c", input: [1]), await bodega("import", place.store, input: export),
                await bodega("copy", plain, place.store),
            ] {
                #expect(result.status == 1 && result.errors.contains("--keyset FILE"), "\(result)")
            }
            #expect(await bodega("count", place.store).text == "2\n")
            for arguments in [["put", place.store, "c"], ["import", place.store], ["copy", plain, place.store]] {
                let result = await bodega(arguments: arguments + ["--unchecked"], input: export)
                #expect(result.status == 0, "\(result)")
                _ = await bodega("rm", place.store, "c")
            }
        }
    }

    @Test("is not written because the variable with the keyset is empty or names a file", arguments: ["", "a.keyset"])
    func variable(value: String) async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let put = await bodega("put", store, "a", input: [1]) { $0.environment["BODEGA_KEYSET"] = value }
            #expect(put.status == 1 && put.errors.contains("The variable BODEGA_KEYSET"))
            #expect(put.errors.contains("--keyset FILE"))
            #expect(await bodega("count", store).status == 1)
        }
    }

    @Test("is no key among hidden ones, and no hidden one among others")
    func hiddenKeys() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            let keys = folder.appendingPathComponent("keys").path
            _ = await bodega("keyset", "create", keys)
            let hidden = storeAddresses[1](folder)
            let options = ["--keyset", place.keyset], both = options + ["--keyset-for-keys", keys]
            #expect(await bodega(arguments: ["put", hidden, "a"] + both, input: [1]).status == 0)
            let shown = await bodega(arguments: ["put", hidden, "b"] + options, input: [2])
            #expect(shown.status == 1 && shown.errors.contains("Give --keyset-for-keys FILE"))
            let mixed = await bodega(arguments: ["put", place.store, "c"] + both, input: [2])
            #expect(mixed.status == 1 && mixed.errors.contains("The keys are not hidden, or"))
            #expect(await bodega("count", place.store).text == "2\n")

            let copy = ["copy", hidden, folder.appendingPathComponent("copy.db").path, "--from-keyset", place.keyset]
            #expect(await bodega(arguments: copy).errors.contains("Give --from-keyset-for-keys FILE"))
            #expect(await bodega(arguments: copy + ["--from-keyset-for-keys", keys]).text == "copied 1\n")

            // A key that can't be found is not absent.
            for (store, arguments) in [(hidden, options), (place.store, both)] {
                let got = await bodega(arguments: ["get", store, "x"] + arguments)
                #expect(got.status == 1 && got.errors.contains("--keyset-for-keys FILE"))
                for command in ["ls", "count"] {
                    let result = await bodega(arguments: [command, store] + arguments)
                    #expect(
                        result.status == 1 && result.errors.contains("--keyset-for-keys FILE") && !result.output.isEmpty
                    )
                }
            }
            #expect(await bodega(arguments: ["get", hidden, "x"] + both).status == 3)
        }
    }

    @Test("of an item is not encrypted twice")
    func twice() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            let copy = folder.appendingPathComponent("copy.db").path
            let twice = await bodega("copy", place.store, copy, "--to-keyset", place.keyset)
            #expect(twice.status == 1 && twice.errors.contains("--from-keyset FILE"))
            #expect(await bodega("count", copy).text == "0\n")
            let raw = await bodega("copy", place.store, copy, "--collection", "x")
            #expect(raw.status == 64)
            let named = await bodega("copy", place.store, "sqlite:\(copy)#x")
            #expect(named.status == 0 && named.errors.contains("give --keyset-collection \"\""))
            #expect(
                await bodega("get", "sqlite:\(copy)#x", "a", "--keyset", place.keyset, "--keyset-collection", "")
                    .status == 0)
        }
    }

    @Test("that is put into an encrypted store does not go to a temporary file")
    func temporaryFile() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            let file = folder.appendingPathComponent("input")
            try Data(count: 3 << 20).write(to: file)
            let missing = folder.appendingPathComponent("missing").path
            let put = ["put", place.store, "c", file.path]
            let encrypted = try ToolProcess(
                put + ["--keyset", place.keyset], in: folder, environment: ["TMPDIR": missing])
            #expect(try await encrypted.end() == 0)
            let plain = try ToolProcess(put + ["--unchecked"], in: folder, environment: ["TMPDIR": missing])
            #expect(try await plain.end() == 1)
            #expect(try plain.errorText.contains("TMPDIR") && plain.errorText.contains(missing))
        }
    }

    @Test("a keyset for keys that is that of the items is refused")
    func sameKeyset() async throws {
        try await withFolder { folder in
            let keyset = folder.appendingPathComponent("keyset").path
            _ = await bodega("keyset", "create", keyset)
            let json = try String(contentsOfFile: keyset, encoding: .utf8)
            let put = ["put", storeAddresses[0](folder), "a", "--keyset-for-keys", keyset]
            #expect(await bodega(arguments: put + ["--keyset", keyset]).errors.contains("Use one of its own"))
            var test = TestConsole()
            test.console.environment["BODEGA_KEYSET"] = json
            #expect(await Tool.run(put, console: test.console) == 1)
            // A rotation of the keyset for items does not hide it.
            var rotated = try EncryptionKeyset(json: Data(json.utf8))
            try rotated.makePrimary(rotated.addKey())
            let file = folder.appendingPathComponent("rotated").path
            try KeysetFile(path: file).create(rotated)
            #expect(await bodega(arguments: put + ["--keyset", file]).errors.contains("Use one of its own"))
        }
    }

    // MARK: Damage

    @Test("can be put into a store whose first items are damaged, but not if all are")
    func damage() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            let put = ["put", place.store, "z", "--keyset", place.keyset]
            let keyset = try KeysetFile(path: place.keyset).read()
            let engine = StoreEncryption(keyset: keyset).decrypting(try place.base, named: nil)
            try await engine.write((0..<30).map { (CacheKey("item \($0)"), Data([1])) })
            for key in try await engine.fetchKeys().dropLast() { try await place.damage(key.rawValue) }
            #expect(await bodega(arguments: put).status == 0)
            for key in try await engine.fetchKeys().suffix(2) { try await place.damage(key.rawValue) }
            let refused = await bodega(arguments: put)
            #expect(refused.status == 1 && refused.errors.contains("the items are damaged: bodega verify"))
            #expect(await bodega("rm", place.store, "--all", "--yes", "--keyset", place.keyset).status == 0)
            #expect(await bodega(arguments: put).status == 0)
        }
    }

    @Test("of damaged items is left out by diff, which compares the others")
    func diff() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            let plain = folder.appendingPathComponent("plain.db").path
            _ = await bodega("copy", place.store, plain, "--from-keyset", place.keyset)
            _ = await bodega("put", plain, "c", input: [1])
            try await place.damage("a")
            for (first, second, option, line) in [
                (place.store, plain, "--first-keyset", "+ c\n"), (plain, place.store, "--second-keyset", "- c\n"),
            ] {
                let diff = await bodega("diff", first, second, option, place.keyset)
                #expect(diff.status == 2 && diff.text == line)
                #expect(diff.errors.contains("1 item could not be compared") && diff.errors.contains("\"a\""))
                #expect(!diff.errors.contains("underlying"))
            }
        }
    }

    @Test("get reports missing items also if others can't be decrypted, and verify gives advice")
    func reports() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            try await place.damage("a")
            let got = await bodega("get", place.store, "a", "x", "--keyset", place.keyset)
            #expect(got.status == 1 && got.errors.contains("There is no item under the key \"x\""))
            #expect(got.errors.contains("1 item could not be read"))
            #expect(
                await bodega("verify", place.store, "--keyset", place.keyset).errors.contains("--keyset-collection"))
            let verified = await bodega("verify", place.store)
            #expect(verified.status == 0 && verified.errors.contains("note: 2 items that seem to be encrypted"))
        }
    }

    @Test("keyset create explains why it creates nothing")
    func create() async throws {
        try await withFolder { folder in
            let path = folder.appendingPathComponent("missing/keyset").path
            #expect(await bodega("keyset", "create", path).errors.contains("Create its folder first"))
            #expect(await bodega("keyset", "create", "").status == 64)
            #expect(await bodega("keyset", "create", "-").status == 64)
        }
    }
}
#endif
