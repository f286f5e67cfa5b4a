@testable import Boutique
import Foundation
import Testing

@Suite struct KeychainServiceTests {

    @Test func `Defect 13: without a bundle identifier the service is the process's name`() {
        #expect(KeychainService(bundleIdentifier: nil, processName: "tool").value == "tool")
        #expect(KeychainService(bundleIdentifier: "", processName: "tool").value == "tool")
        #expect(KeychainService(bundleIdentifier: "com.example.app", processName: "tool").value == "com.example.app")
        #expect(!KeychainService.default.value.isEmpty)
    }

    @Test func `Services and groups are expressible by string literals, and an address has the default service`() {
        let address = SecretAddress(key: "token", service: "mail", group: "shared")
        #expect(address.service.value == "mail")
        #expect(address.group?.value == "shared")
        #expect(SecretAddress(key: "token") == SecretAddress(key: "token", service: .default, group: nil))
    }

    @Test func `The description of an error has its code, message, key, service, file and status in one line`() {
        let error = KeychainError(
            .locked, "Unlock it.", secret: SecretAddress(key: "token", service: "mail"),
            file: URL(fileURLWithPath: "/tmp/x"), status: -25308, cause: CocoaError(.fileNoSuchFile))
        #expect(error.description.hasPrefix("locked: Unlock it. [key token of mail] [/tmp/x] [OSStatus -25308] ("))
        #expect(error.localizedDescription == error.description)
    }
}
