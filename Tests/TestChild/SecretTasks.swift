import Boutique
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The storage in a folder, or the secret service of the environment if the folder is `secret-service`.
private func secrets(_ path: String) -> any SecretStorage {
    #if SecretService
    if path == "secret-service" { return SecretServiceStorage(timeLimit: .seconds(60)) }
    #endif
    return EncryptedFileSecretStorage(directory: FileManager.Directory(url: URL(fileURLWithPath: path)))
}

private func address(_ key: String) -> SecretAddress {
    SecretAddress(key: key, service: "tests")
}

/// Sets a secret repeatedly, and prints the number of each call that has returned.
///
/// Arguments: folder, key, prefix of the values, number of rounds.
func setSecrets(_ arguments: [String]) throws {
    let (storage, secret) = (secrets(arguments[0]), address(arguments[1]))
    for round in 0..<(Int(arguments[3]) ?? 0) {
        try storage.write(value(of: "\(arguments[2])-\(round)"), to: secret)
        say("\(round)")
    }
    say("done")
}

/// Prints a secret, or the error of reading it.
///
/// Arguments: folder, key.
func sayAsSecret(_ arguments: [String]) throws {
    do {
        let data = try secrets(arguments[0]).read(address(arguments[1]))
        say(data.map { String(decoding: $0, as: UTF8.self) } ?? "none")
    } catch let error as KeychainError {
        say("error \(error.code)")
    }
}

/// Increments a counter in a secret, each time within `exclusively`.
///
/// Arguments: folder, key, number of increments.
func countInSecret(_ arguments: [String]) throws {
    let (storage, secret) = (secrets(arguments[0]), address(arguments[1]))
    for _ in 0..<(Int(arguments[2]) ?? 0) {
        try storage.exclusively {
            let count = try storage.read(secret).flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
            try storage.write(Data("\(count + 1)".utf8), to: secret)
        }
    }
    say("done")
}

/// Holds exclusive access to secrets forever, and prints `held`.
///
/// Arguments: folder.
func holdSecrets(_ arguments: [String]) throws {
    try secrets(arguments[0]).exclusively {
        say("held")
        while true { pause() }
    }
}

/// Uses secrets as an unprivileged user, and prints the results of reading, writing and removing.
///
/// Arguments: folder, key.
func useSecretsUnprivileged(_ arguments: [String]) {
    if geteuid() == 0 { precondition(setgid(65534) == 0 && setuid(65534) == 0) }
    let (storage, secret) = (secrets(arguments[0]), address(arguments[1]))
    func attempt(_ name: String, _ body: () throws -> Void) {
        do {
            try body()
            say("\(name) done")
        } catch let error as KeychainError {
            say("\(name) \(error.code)")
        } catch {
            say("\(name) \(error)")
        }
    }
    attempt("read") { _ = try storage.read(secret) }
    attempt("write") { try storage.write(Data(), to: secret) }
    attempt("remove") { try storage.remove(secret) }
}

/// Appends to a secret that is identified only by its key, and prints it.
///
/// Arguments: number of appends.
func useDefaultSecret(_ arguments: [String]) throws {
    let words = SecurelyStoredValue<[String]>(key: "words")
    for _ in 0..<(Int(arguments[0]) ?? 0) { try words.append("word") }
    say("\(words.address.service) \(words.wrappedValue?.count ?? -1)")
}
