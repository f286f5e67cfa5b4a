import Bodega
import Boutique
import Foundation
import TestSupport
import Testing

/// The format of encrypted secrets, checked with frozen fixtures.
@Suite struct SecretFormatTests {
    private let fixture = SecretFolderFixture()

    @Test func `Frozen secrets can be read and changed`() throws {
        try FileManager.default.copyItem(at: Fixtures.file("emporium-1-secrets"), to: fixture.url)
        try fixture.setPermissions(0o700)
        // Git does not store the permissions.
        try fixture.setPermissions(0o600, "master.key")
        #expect(try fixture.storage.read(.test()) == Data(String(repeating: "frozen-0;", count: 40).utf8))
        try fixture.storage.write(Data("new".utf8), to: .test())
        #expect(try fixture.storage.read(.test()) == Data("new".utf8))
        #expect(try fixture.secretNames().count == 1)
    }
}
