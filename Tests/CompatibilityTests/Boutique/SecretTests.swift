import Boutique
import Foundation
import Testing

extension KeychainError {
    /// A program's text for each case, by an exhaustive switch.
    fileprivate var explanation: String {
        switch self {
        case .couldNotAccessKeychain: return "no access"
        case .itemNotFound: return "not found"
        case .missingEntitlement: return "not entitled"
        case .errorWithStatus(let status): return "status \(status)"
        }
    }
}

extension KeychainService {
    fileprivate static let mail = KeychainService(value: "mail")
}

extension KeychainGroup {
    fileprivate static let apps = KeychainGroup(value: "apps")
}

/// Errors of secrets, used as in programs for Boutique.
@Suite struct SecretTests {
    private let token = SecurelyStoredValue<Bool>(
        key: "token", service: .mail, group: .apps, storage: MemorySecretStorage())

    @Test func `The cases of an error are those of Boutique`() {
        let errors: [KeychainError] = [
            .couldNotAccessKeychain, .itemNotFound, .missingEntitlement, .errorWithStatus(status: -50),
        ]
        #expect(errors.map { $0.explanation } == ["no access", "not found", "not entitled", "status -50"])
        #expect(errors.map { $0.code } == [.other, .notFound, .missingEntitlement, .other])
        #expect(errors[3].status == -50)
    }

    @Test func `Errors are thrown, caught and compared by their cases`() {
        func caught(_ error: KeychainError) -> String {
            do {
                throw error
            } catch KeychainError.couldNotAccessKeychain {
                return "no access"
            } catch KeychainError.errorWithStatus(status: let status) {
                return "status \(status)"
            } catch {
                if case KeychainError.itemNotFound = error { return "not found" }
                if let error = error as? KeychainError, case .missingEntitlement = error { return "not entitled" }
                return "other"
            }
        }
        func fail() throws { throw KeychainError.itemNotFound }
        #expect(throws: KeychainError.self) { try fail() }
        #expect(caught(.couldNotAccessKeychain) == "no access")
        #expect(caught(.itemNotFound) == "not found")
        #expect(caught(.missingEntitlement) == "not entitled")
        #expect(caught(.errorWithStatus(status: 5)) == "status 5")
        let result: Result<Int, KeychainError> = .failure(.missingEntitlement)
        #expect(throws: KeychainError.self) { try result.get() }
    }

    @Test func `An absent value can't be toggled`() throws {
        do {
            try token.toggle()
            Issue.record("toggle() did not throw.")
        } catch KeychainError.couldNotAccessKeychain {
            #expect(token.wrappedValue == nil)
        }
        #expect(token.address.service.value == "mail")
        #expect(token.address.group?.value == "apps")
    }
}
