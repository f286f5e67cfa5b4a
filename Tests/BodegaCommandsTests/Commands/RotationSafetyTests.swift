#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

@Suite("A rotation of a keyset")
struct RotationSafetyTests {

    @Test("is refused for a pipe, into which the new key would be lost")
    func pipe() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            let stored = try await place.base.fetchAllData()
            let pipe = Pipe()
            pipe.fileHandleForWriting.write(try Data(contentsOf: URL(fileURLWithPath: place.keyset)))
            try pipe.fileHandleForWriting.close()
            let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
            let rotated = await bodega("keyset", "rotate", place.store, "--keyset", path)
            #expect(rotated.status == 64 && rotated.errors.contains("not a regular file"))
            #expect(try await place.base.fetchAllData() == stored)
        }
    }

    @Test("excludes another one of the same keyset, also after the file was replaced")
    func lock() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            var lock: LockedKeysetFile? = try LockedKeysetFile(path: place.keyset)
            let link = folder.appendingPathComponent("link").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: place.keyset)
            for _ in 0..<2 {
                for path in [place.keyset, link] {
                    let rotated = await bodega("keyset", "rotate", place.store, "--keyset", path)
                    #expect(rotated.status == 1 && rotated.errors.contains("Another rotation is using the keyset"))
                }
                try lock?.replace(with: try KeysetFile(path: place.keyset).read())
            }
            #expect(try KeysetFile(path: place.keyset).read().keyIDs.count == 1)
            lock = nil
            #expect(await bodega("keyset", "rotate", place.store, "--keyset", link).status == 0)
            #expect(try KeysetFile(path: place.keyset).read().keyIDs.count == 2)
        }
    }

    @Test("keeps the old keys while an item of another collection needs them")
    func otherCollections() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            let options = ["--keyset", place.keyset]
            let drafts = place.store + "#drafts"
            #expect(await bodega(arguments: ["put", drafts, "c"] + options, input: [3]).status == 0)
            for (store, other) in [(place.store, "\"drafts\""), (drafts, "the unnamed one")] {
                let rotate = ["keyset", "rotate", store] + options + ["--remove-old-keys"]
                let rotated = await bodega(arguments: rotate)
                #expect(rotated.status == 1 && rotated.errors.contains("\(other). Run the command with --resume"))
                #expect(rotated.text.contains("old key"))
                #expect(await bodega(arguments: ["get", drafts, "c"] + options).output == [3])
                #expect(await bodega(arguments: ["get", place.store, "a"] + options).status == 0)
            }
            #expect(try KeysetFile(path: place.keyset).read().keyIDs.count == 3)
            let resumed = await bodega(
                arguments: ["keyset", "rotate", place.store] + options + ["--resume", "--remove-old-keys"])
            #expect(resumed.status == 0 && resumed.errors.contains("also has the collections \"drafts\""))
            #expect(try KeysetFile(path: place.keyset).read().keyIDs.count == 1)
            #expect(await bodega(arguments: ["get", drafts, "c"] + options).output == [3])
            #expect(await bodega(arguments: ["get", place.store, "a"] + options).status == 0)
        }
    }

    @Test("removes the old keys of a file without items in its unnamed collection")
    func onlyNamed() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder) {
                "sqlite:\($0.appendingPathComponent("store.db").path)#notes"
            }
            let rotate = ["keyset", "rotate", place.store, "--keyset", place.keyset, "--remove-old-keys"]
            let rotated = await bodega(arguments: rotate)
            #expect(rotated.status == 0 && rotated.text.hasPrefix("2 items re-encrypted with key "))
            #expect(try KeysetFile(path: place.keyset).read().keyIDs.count == 1)
            #expect(await bodega("get", place.store, "b", "--keyset", place.keyset).status == 0)
        }
    }

    @Test("keeps the owner, the group and the permissions of the keyset", .enabled(if: geteuid() == 0))
    func owner() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            try FileManager.default.setAttributes(
                [.ownerAccountID: 12345, .groupOwnerAccountID: 12346], ofItemAtPath: place.keyset)
            #expect(await bodega("keyset", "rotate", place.store, "--keyset", place.keyset).status == 0)
            let attributes = try FileManager.default.attributesOfItem(atPath: place.keyset)
            #expect((attributes[.ownerAccountID] as? NSNumber)?.intValue == 12345)
            #expect((attributes[.groupOwnerAccountID] as? NSNumber)?.intValue == 12346)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }
}
#endif
