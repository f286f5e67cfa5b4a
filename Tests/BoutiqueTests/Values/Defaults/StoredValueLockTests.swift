import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega
@testable import Boutique

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Stored values next to a stopped process, and with a pipe in place of their file.
@Suite struct StoredValueLockTests {
    let home = TemporaryFolder()
    var file: URL { home.file("data/emporium/defaults/suite.values") }

    @Test func `A stopped writer makes the changes of other processes fail, but not their reads`() async throws {
        let folders = ["HOME": home.path, "CFFIXED_USER_HOME": home.path, "XDG_DATA_HOME": home.path + "/data"]
        let storage = DefaultsFile(url: file, isWatched: false, lockTimeout: LockTimeout(.zero))
        let value = StoredValue(key: "key", default: "none", in: storage)
        value.set("old")
        let child = try Child("values", "hold", "suite", "key", environment: folders)
        #expect(await child.nextLine() == "held")
        child.send(SIGSTOP)
        value.set("new")
        let error = value.lastError
        #expect(error?.code == .locked)
        #expect(error?.file == file)
        #expect(value.wrappedValue == "old")
        let other = StoredValue(key: "other", default: 0, in: storage)
        other.modify { $0 += 1 }
        #expect(other.lastError?.code == .locked)
        child.kill()
        _ = await child.lines()
        value.set("new")
        #expect(value.wrappedValue == "new" && value.lastError == nil)
    }

    @Test func `A pipe in place of the file is reported without waiting`() throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try #require(mkfifo(file.path, 0o600) == 0)
        let value = StoredValue(key: "key", default: "none", in: DefaultsFile(url: file, isWatched: false))
        #expect(value.wrappedValue == "none")
        #expect(value.lastError?.code == .damaged)
    }
}
