#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import TestSupport
import Testing

@Suite("An encrypted store")
struct EncryptedCommandTests {

    @Test("is written and read with a keyset in a file or in a variable", arguments: storeAddresses)
    func roundTrip(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder, address)
            let (store, keyset) = (place.store, place.keyset)
            #expect(await bodega("get", store, "a", "--keyset", keyset).text == #"{"name":"dolly"}"#)
            #expect(try await place.base.fetchAllData().allSatisfy { $0.range(of: Data("name".utf8)) == nil })
            let json = try String(contentsOfFile: keyset, encoding: .utf8)
            let got = await bodega("get", store, "b") { $0.environment["BODEGA_KEYSET"] = json }
            #expect(got == RunResult(status: 0, output: Array(#"{"name":"molly"}"#.utf8), errors: ""))
            let query = await bodega(
                "query", store, "--where", "@.name == 'molly'", "--count", "--keyset", keyset)
            #expect(query == RunResult(status: 0, output: Array("1\n".utf8), errors: ""))
            let export = await bodega("export", store, "--keyset", keyset)
            #expect(export.text.contains("dolly"))
            let other = folder.appendingPathComponent("other.db").path
            #expect(await bodega("import", other, "--keyset", keyset, input: export.output).status == 0)
            #expect(
                await bodega("diff", store, other, "--first-keyset", keyset, "--second-keyset", keyset).status == 0)
            let sizes = await bodega("ls", store, "--long", "--json", "--keyset", keyset)
            #expect(sizes.status == 0 && sizes.text.contains(#""size":16"#))
            #expect(await bodega("stat", store, "--json", "--keyset", keyset).text.contains(#""bytes":32"#))
            #expect(await bodega("verify", store, "--expect-json", "--keyset", keyset).status == 0)
            #expect(await bodega("rm", store, "a", "--keyset", keyset).status == 0)
            #expect(await bodega("count", store, "--keyset", keyset).text == "1\n")
        }
    }

    // MARK: Without the keyset

    @Test("is never queried without its keyset: the result is an error, not an absence")
    func queryWithoutKeyset() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            _ = await bodega("put", place.store, "plain", "--unchecked", input: Array(#"{"name":"molly"}"#.utf8))
            _ = await bodega("put", place.store, "text", "--unchecked", input: Array("not JSON".utf8))
            for arguments in [["--count"], ["--count", "--json"], ["--json"], []] {
                let result = await bodega(
                    arguments: ["query", place.store, "--where", "@.name == 'molly'"] + arguments)
                #expect(result.status == 1)
                #expect(result.errors.contains("2 items could not be examined"))
                #expect(result.errors.contains("--keyset FILE"))
                #expect(result.errors.contains("not JSON were left out: 1"))
                #expect(result.text.contains(arguments.first == "--count" ? "1" : "plain"))
            }
            let keyset = folder.appendingPathComponent("other").path
            _ = await bodega("keyset", "create", keyset)
            let wrong = await bodega("query", place.store, "--count", "--keyset", keyset)
            #expect(wrong.status == 1 && wrong.text == "0\n" && wrong.errors.contains("4 items could not be examined"))
        }
    }

    @Test("is read as it is stored without its keyset, with a note")
    func notes() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            let stored = try #require(try await place.base.fetch(key: CacheKey("a")))
            let got = await bodega("get", place.store, "a")
            #expect(got.status == 0 && Data(got.output) == stored && got.errors.contains("note: 1 item that seems"))
            #expect(await bodega("export", place.store).errors.contains("note: 2 items that seem"))
            #expect(await bodega("stat", place.store, "--json").text.contains(#""encrypted":2"#))
            let copy = folder.appendingPathComponent("copy.db").path
            #expect(
                await bodega("copy", place.store, copy, "--from-keyset", place.keyset, "--to-keyset", place.keyset)
                    .status
                    == 0)
            let diff = await bodega("diff", place.store, copy)
            #expect(diff.status == 1 && diff.errors.contains("note: 2 different items seem to be encrypted"))
        }
    }

    // MARK: Damage

    @Test("with items that can't be decrypted is read without these, which are listed")
    func damage() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            try await place.damage("a")
            let keyset = ["--keyset", place.keyset]
            for (command, expected) in [
                (["get", place.store, "a", "b"] + keyset, #"{"name":"molly"}"#),
                (["export", place.store] + keyset, "molly"),
                (["query", place.store] + keyset, "molly"),
                (["ls", place.store, "--long"] + keyset, "b"),
                (["stat", place.store] + keyset, "items       1"),
                (["verify", place.store] + keyset, "problem: The item can't be read"),
            ] {
                let result = await bodega(arguments: command)
                #expect(result.status == 1, "\(command)")
                #expect(result.text.contains(expected), "\(command)")
                #expect((result.text + result.errors).contains("\"a\""), "\(command)")
            }
            let file = folder.appendingPathComponent("export.ndjson")
            try Data("old".utf8).write(to: file)
            #expect(await bodega(arguments: ["export", place.store, "--output", file.path] + keyset).status == 1)
            #expect(try String(contentsOf: file, encoding: .utf8) == "old")
            let json = await bodega(arguments: ["verify", place.store, "--json"] + keyset)
            #expect(json.text.hasPrefix(#"{"items":1,"problems":["#))

            let copy = folder.appendingPathComponent("copy.db").path
            let copied = await bodega("copy", place.store, copy, "--from-keyset", place.keyset)
            #expect(copied.status == 1 && copied.text == "copied 1\n" && copied.errors.contains("\"a\""))
            #expect(await bodega("get", copy, "b").text == #"{"name":"molly"}"#)
            #expect(await bodega("diff", place.store, copy, "--first-keyset", place.keyset).status == 2)
        }
    }

    @Test("is not written with the wrong keyset or collection")
    func wrongKeyset() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            let wrong = folder.appendingPathComponent("wrong").path
            _ = await bodega("keyset", "create", wrong)
            for arguments in [["--keyset", wrong], ["--keyset", place.keyset, "--keyset-collection", "other"]] {
                let put = await bodega(arguments: ["put", place.store, "c"] + arguments, input: [1])
                #expect(put.status == 1 && put.errors.contains("Nothing was written"))
                #expect(put.errors.contains("--keyset-collection"))
                let get = await bodega(arguments: ["get", place.store, "a"] + arguments)
                #expect(get.status == 1 && get.output.isEmpty && get.errors.contains("--keyset FILE"))
                let export = await bodega("export", place.store, "--keyset", place.keyset).output
                let imported = await bodega(arguments: ["import", place.store] + arguments, input: export)
                #expect(imported.status == 1 && imported.errors.contains("Nothing was imported"))
            }
            #expect(await bodega("count", place.store).text == "2\n")
            let copy = await bodega(
                "copy", place.store, storeAddresses[1](folder), "--from-keyset", place.keyset, "--to-keyset", wrong)
            #expect(copy.status == 0)
            let again = await bodega(
                "copy", place.store, storeAddresses[1](folder), "--from-keyset", place.keyset, "--to-keyset",
                place.keyset)
            #expect(again.status == 1 && again.errors.contains("Nothing was written"))
        }
    }

    // MARK: Keysets

    @Test("needs a keyset that other users can't read, and that is one")
    func keysetFiles() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            for mode in [0o644, 0o640, 0o602] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: place.keyset)
                let result = await bodega("get", place.store, "a", "--keyset", place.keyset)
                #expect(result.status == 1 && result.output.isEmpty)
                #expect(result.errors.contains("0\(String(mode, radix: 8))") && result.errors.contains("chmod 600"))
            }
            let invalid = folder.appendingPathComponent("invalid").path
            #expect(
                FileManager.default.createFile(
                    atPath: invalid, contents: Data(#"{"key":"SECRET"}"#.utf8), attributes: [.posixPermissions: 0o600]))
            for result in [
                await bodega("get", place.store, "a", "--keyset", invalid),
                await bodega("get", place.store, "a", "--keyset", invalid + ".missing"),
                await bodega("get", place.store, "a", "--keyset", folder.path),
                await bodega("get", place.store, "a", configure: { $0.environment["BODEGA_KEYSET"] = "SECRET" }),
                await bodega("put", place.store, "a", "--keyset", "/dev/zero"),
            ] {
                #expect(result.status == 1 && result.output.isEmpty)
                #expect(!result.errors.contains("SECRET"))
            }
            #expect(await bodega("get", place.store, "a", "--keyset-collection", "x").status == 64)
            #expect(await bodega("copy", place.store, "x.db", "--to-keyset-collection", "x").status == 64)
        }
    }

    @Test("has a keyset that is created once, for its owner only")
    func create() async throws {
        try await withFolder { folder in
            let path = folder.appendingPathComponent("keyset").path
            let created = await bodega("keyset", "create", path)
            #expect(created == RunResult(status: 0, output: [], errors: ""))
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
            let json = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(try EncryptionKeyset(json: json).keyIDs.count == 1)
            let again = await bodega("keyset", "create", path)
            #expect(again.status == 1 && again.errors.contains("never overwritten"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == json)
        }
    }

    @Test("is re-encrypted with a new key, also after an interruption")
    func rotation() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            let old = try KeysetFile(path: place.keyset).read()
            let rotated = await bodega("keyset", "rotate", place.store, "--keyset", place.keyset)
            let new = try KeysetFile(path: place.keyset).read()
            #expect(rotated.text == "2 items re-encrypted with key \(new.primaryKeyID), 1 old key kept\n")
            #expect(new.keyIDs.count == 2 && new.primaryKeyID != old.primaryKeyID)

            // As if the next rotation had ended after the keyset was written and one item encrypted.
            var third = new
            try third.makePrimary(third.addKey())
            try KeysetFile(path: place.keyset).replace(with: third)
            try await place.base.encryptedItem("a", with: third)
            let resumed = await bodega(
                "keyset", "rotate", place.store, "--keyset", place.keyset, "--resume", "--remove-old-keys")
            #expect(resumed.text == "1 item re-encrypted with key \(third.primaryKeyID), 2 old keys removed\n")
            #expect(try KeysetFile(path: place.keyset).read().keyIDs == [third.primaryKeyID])
            #expect(await bodega("get", place.store, "b", "--keyset", place.keyset).text == #"{"name":"molly"}"#)
            let mode = try FileManager.default.attributesOfItem(atPath: place.keyset)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
        }
    }

    @Test("keeps its old keys if an item can't be re-encrypted, and its keyset if it is the wrong one")
    func failedRotation() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            try await place.damage("b")
            let rotated = await bodega(
                "keyset", "rotate", place.store, "--keyset", place.keyset, "--remove-old-keys")
            #expect(rotated.status == 1 && rotated.errors.contains("\"b\""))
            #expect(try KeysetFile(path: place.keyset).read().keyIDs.count == 2)
            let wrong = folder.appendingPathComponent("wrong").path
            _ = await bodega("keyset", "create", wrong)
            #expect(await bodega("keyset", "rotate", place.store, "--keyset", wrong).status == 1)
            #expect(try KeysetFile(path: wrong).read().keyIDs.count == 1)
            #expect(
                await bodega("keyset", "rotate", storeAddresses[1](folder), "--keyset", place.keyset).status == 1)
            _ = await bodega("put", storeAddresses[1](folder), "a", "--keyset", place.keyset)
            // A folder is re-encrypted in place, too.
            let old = try KeysetFile(path: place.keyset).read().primaryKeyID
            let items = await bodega("keyset", "rotate", storeAddresses[1](folder), "--keyset", place.keyset)
            let new = try KeysetFile(path: place.keyset).read().primaryKeyID
            #expect(items.text == "1 item re-encrypted with key \(new), 2 old keys kept\n" && new != old)
        }
    }

    @Test("are not taken for damaged if the keyset is for items in clear text")
    func keysetForClearText() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            let plain = folder.appendingPathComponent("plain.db").path
            #expect(await bodega("put", plain, "a", input: Array("1".utf8)).status == 0)
            for arguments in [["keyset", "rotate", plain], ["put", plain, "b"], ["get", plain, "a"]] {
                let result = await bodega(arguments: arguments + ["--keyset", place.keyset], input: Array("2".utf8))
                #expect(result.status == 1 && result.errors.contains("keyset"), "\(arguments): \(result)")
                for word in ["rm", "emove", "decryptionFailed:"] {
                    #expect(!result.errors.contains(word) || arguments[0] == "get", "\(arguments): \(result)")
                }
                #expect(!result.errors.contains("emove it"), "\(result)")
            }
            #expect(await bodega("get", plain, "a").text == "1")
        }
    }

    // MARK: Other forms

    @Test("can be copied from and into clear text, another keyset and another collection")
    func copies() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            let (plain, other) = (
                folder.appendingPathComponent("plain.db").path, folder.appendingPathComponent("k2").path
            )
            _ = await bodega("keyset", "create", other)
            #expect(await bodega("copy", place.store, plain, "--from-keyset", place.keyset).text == "copied 2\n")
            #expect(await bodega("get", plain, "a").text == #"{"name":"dolly"}"#)
            let target = "sqlite:\(plain)#notes"
            let copy = ["copy", plain, target, "--to-keyset", other]
            #expect(await bodega(arguments: copy).text == "copied 2\n")
            #expect(await bodega(arguments: copy).text == "copied 0, already there 2\n")
            #expect(await bodega("get", target, "a", "--keyset", other).text == #"{"name":"dolly"}"#)
            #expect(
                await bodega("get", target, "a", "--keyset", other, "--keyset-collection", "notes").status == 0)
            // Without keysets, the encrypted items are copied as they are.
            let raw = folder.appendingPathComponent("raw.db").path
            let json = try String(contentsOfFile: place.keyset, encoding: .utf8)
            #expect(
                await bodega("copy", place.store, raw) { $0.environment["BODEGA_KEYSET"] = json }.text == "copied 2\n")
            #expect(await bodega("get", raw, "b", "--keyset", place.keyset).text == #"{"name":"molly"}"#)
            // An item of the destination that can't be decrypted is a different one.
            try await place.damage("a")
            let back = await bodega(
                "copy", raw, place.store, "--from-keyset", place.keyset, "--to-keyset", place.keyset)
            #expect(back.status == 1 && back.text == "copied 0, already there 1, different 1\n")
            let overwritten = await bodega(
                "copy", raw, place.store, "--from-keyset", place.keyset, "--to-keyset", place.keyset, "--overwrite")
            #expect(overwritten.text == "copied 0, overwritten 1, already there 1\n")
            #expect(await bodega("verify", place.store, "--keyset", place.keyset).status == 0)
        }
    }

    @Test("with hidden keys is used with a keyset for keys")
    func hiddenKeys() async throws {
        try await withFolder { folder in
            let (store, keyset) = (storeAddresses[0](folder), folder.appendingPathComponent("keyset").path)
            let keys = folder.appendingPathComponent("keys").path
            _ = await bodega("keyset", "create", keyset)
            _ = await bodega("keyset", "create", keys)
            let options = ["--keyset", keyset, "--keyset-for-keys", keys]
            #expect(await bodega(arguments: ["put", store, "secret"] + options, input: [7]).status == 0)
            #expect(await bodega(arguments: ["ls", store] + options).text == "secret\n")
            #expect(await bodega(arguments: ["get", store, "secret"] + options).output == [7])
            #expect(!(await bodega("ls", store).text.contains("secret")))
            #expect(await bodega("keyset", "rotate", store, "--keyset", keyset).status == 0)
            #expect(await bodega(arguments: ["get", store, "secret"] + options).output == [7])
            // With the wrong keyset for keys, items can't be read, and none is written.
            let other = folder.appendingPathComponent("other").path
            _ = await bodega("keyset", "create", other)
            let wrong = ["--keyset", keyset, "--keyset-for-keys", other]
            #expect(await bodega(arguments: ["export", store] + wrong).status == 1)
            #expect(await bodega(arguments: ["put", store, "secret"] + wrong, input: [8]).status == 1)
        }
    }
}

extension StorageEngine {
    /// Encrypts an item again.
    fileprivate func encryptedItem(_ key: String, with keyset: EncryptionKeyset) async throws {
        let engine = encrypted(with: keyset)
        let data = try #require(try await engine.fetch(key: CacheKey(key)))
        try await engine.write(data, key: CacheKey(key))
    }
}
#endif
