import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Only root can run a process as another user.
private let canChangeUser = geteuid() == 0

/// Whether the default storage of secrets is in files.
private let usesFiles: Bool = {
    #if canImport(Security)
    false
    #else
    true
    #endif
}()

/// Secrets in files that several processes and threads use.
@Suite struct SecretProcessTests {
    private let fixture = SecretFolderFixture()
    private var storage: EncryptedFileSecretStorage { fixture.storage }

    @Test func `Another process reads the secrets of this one, and vice versa`() async throws {
        #expect(await (try Child("say-secret", fixture.url.path, "token")).lines() == ["none"])
        try storage.write(Data("from here".utf8), to: .test())
        #expect(await (try Child("say-secret", fixture.url.path, "token")).lines() == ["from here"])
        #expect(await (try Child("set-secrets", fixture.url.path, "token", "there", "2")).lines().last == "done")
        #expect(try storage.read(.test()) == value("there-1"))
        try storage.remove(.test())
        #expect(await (try Child("say-secret", fixture.url.path, "token")).lines() == ["none"])
    }

    @Test func `A process that is killed while it sets a secret leaves the complete old or new secret`() async throws {
        let seed = Seed.current
        print("kill test of secrets: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        for round in 0..<20 {
            let child = try Child("set-secrets", fixture.url.path, "token", "r\(round)", "100000")
            var said: [String] = []
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                said.append(try #require(await child.nextLine()))
            }
            child.kill()
            // Includes the output before the kill.
            said += await child.lines()
            let last = try #require(said.last.flatMap { Int($0) })
            let found = try storage.read(.test())
            #expect([value("r\(round)-\(last)"), value("r\(round)-\(last + 1)")].contains(found), "round \(round)")
        }
        try storage.write(Data("after".utf8), to: .test())
        #expect(try storage.read(.test()) == Data("after".utf8))
        #expect(try fixture.secretNames().count == 1)
    }

    @Test func `Processes that start concurrently in a new folder use one key`() async throws {
        for _ in 0..<5 {
            let fixture = SecretFolderFixture()
            let children = try (0..<6).map { try Child("set-secrets", fixture.url.path, "k\($0)", "v", "1") }
            for child in children { #expect(await child.lines() == ["0", "done"]) }
            for key in 0..<6 { #expect(try fixture.storage.read(.test("k\(key)")) == value("v-0")) }
        }
    }

    @Test func `Exclusive changes by several processes and threads are all counted`() async throws {
        let children = try (0..<3).map { _ in try Child("count-in-secret", fixture.url.path, "count", "60") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<30 {
                        let storage = fixture.storage
                        try storage.exclusively {
                            let count = try storage.read(.test("count")).flatMap {
                                Int(String(decoding: $0, as: UTF8.self))
                            }
                            try storage.write(Data("\((count ?? 0) + 1)".utf8), to: .test("count"))
                        }
                    }
                }
            }
            for child in children { group.addTask { #expect(await child.lines() == ["done"]) } }
            try await group.waitForAll()
        }
        #expect(try storage.read(.test("count")) == Data("300".utf8))
    }

    @Test(.enabled(if: usesFiles))
    func `Defect 13: without a bundle identifier nothing traps, and processes of one name share the secret`()
        async throws
    {
        let home = TemporaryFolder()
        let environment = ["XDG_DATA_HOME": home.path]
        let children = try (0..<3).map { _ in try Child("default-secret", "20", environment: environment) }
        for child in children { _ = await child.lines() }
        #expect(await (try Child("default-secret", "0", environment: environment)).lines() == ["TestChild 60"])
        let folder = home.file("emporium/secrets").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).contains("master.key"))
    }

    @Test func `Values can be changed within and outside exclusive use of their storage, by several threads`()
        async throws
    {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let storage = fixture.storage
                    let count = SecurelyStoredValue<Int>(key: "count", storage: storage)
                    for _ in 0..<20 {
                        if number % 2 == 0 {
                            try storage.exclusively { try count.set((count.fetch() ?? 0) + 1) }
                        } else {
                            try count.modify { $0 = ($0 ?? 0) + 1 }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try SecurelyStoredValue<Int>(key: "count", storage: storage).fetch() == 80)
    }

    @Test func `Threads that start concurrently in a new folder use one key and lose nothing`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    for round in 0..<10 {
                        let address = SecretAddress.test("\(writer)")
                        try fixture.storage.write(Data("\(round)".utf8), to: address)
                        #expect(try fixture.storage.read(address) == Data("\(round)".utf8))
                    }
                }
            }
            try await group.waitForAll()
        }
        for writer in 0..<8 { #expect(try storage.read(.test("\(writer)")) == Data("9".utf8)) }
    }

    @Test(.enabled(if: canChangeUser)) func `Another user is denied access to the folder`() async throws {
        try storage.write(Data("secret".utf8), to: .test())
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: fixture.parent.path)
        let lines = await (try Child("unprivileged-secrets", fixture.url.path, "token")).lines()
        #expect(lines == ["read accessDenied", "write accessDenied", "remove accessDenied"])
    }

    @Test(.enabled(if: canChangeUser)) func `A readable folder of another user is not used`()
        async throws
    {
        try storage.write(Data("secret".utf8), to: .test())
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: fixture.parent.path)
        try fixture.setPermissions(0o755)
        let lines = await (try Child("unprivileged-secrets", fixture.url.path, "token")).lines()
        #expect(lines == ["read notPrivate", "write notPrivate", "remove notPrivate"])
    }

    @Test(.enabled(if: canChangeUser)) func `A folder that cannot be created is reported with the reason`()
        async throws
    {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: fixture.parent.path)
        let lines = await (try Child("unprivileged-secrets", fixture.url.path, "token")).lines()
        #expect(lines == ["read done", "write accessDenied", "remove done"])
    }

    @Test(
        "A read-only or full volume is reported, and stored secrets can be read", .enabled(if: Volume.canMount))
    func volume() throws {
        let volume = try Volume(at: fixture.parent, size: "1m")
        defer { volume.unmount() }
        try storage.write(Data("old".utf8), to: .test())
        #expect(keychainCode { try storage.write(Data(count: 3_000_000), to: .test()) } == .storageFull)
        #expect(try storage.read(.test()) == Data("old".utf8))
        try volume.makeReadOnly()
        #expect(try storage.read(.test()) == Data("old".utf8))
        #expect(keychainCode { try storage.write(Data("new".utf8), to: .test()) } == .readOnly)
        #expect(keychainCode { try storage.remove(.test()) } == .readOnly)
        #expect(try storage.read(.test()) == Data("old".utf8))
    }

    /// The value that the child process sets: a word repeated many times, so that a torn value is detected.
    private func value(_ word: String) -> Data {
        Data(String(repeating: word + ";", count: 40).utf8)
    }
}
