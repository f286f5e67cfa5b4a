public import Foundation

/// A place that keeps secrets: the keychain, encrypted files, or one of your own.
///
/// Its functions may block for a short time and may be called from any thread. They throw a ``KeychainError`` whose code
/// tells what kind of failure it was, so that ``SecurelyStoredValue`` behaves the same over all of them.
///
/// A storage of your own implements ``scope``, ``read(_:)``, ``write(_:to:)`` and ``remove(_:)``. If it can keep other
/// processes out meanwhile, it also implements ``update(_:_:)``.
public protocol SecretStorage: Sendable {

    /// Names the place. Storages with the same scope hold the same secrets, so a value that is set through one of them
    /// has changed for those who observe it through another.
    var scope: String { get }

    /// Reads a secret.
    ///
    /// - Parameter secret: Where it is.
    /// - Returns: The bytes, or `nil` if there are none.
    /// - Throws: A ``KeychainError`` if it is not known whether there is a secret, or its bytes cannot be had.
    func read(_ secret: SecretAddress) throws -> Data?

    /// Writes a secret in place of the one before, whole or not at all.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - secret: Where they belong.
    /// - Throws: A ``KeychainError``; the secret is then what it was.
    func write(_ data: Data, to secret: SecretAddress) throws

    /// Removes a secret. It is no failure if there is none.
    ///
    /// - Parameter secret: Where it is.
    /// - Throws: A ``KeychainError``; the secret is then still there.
    func remove(_ secret: SecretAddress) throws

    /// Reads a secret and changes it, with nobody in between as far as the storage can see to that.
    ///
    /// The default reads, asks and writes; another process can come in between. Threads of this process don't need it:
    /// ``SecurelyStoredValue`` lets them take turns.
    ///
    /// - Parameters:
    ///   - secret: Where it is.
    ///   - change: Gets the bytes, `nil` if there are none, or the error of reading them, and says what to do. It must
    ///     not use the storage.
    /// - Throws: What `change` throws, or a ``KeychainError``; the secret is then what it was.
    func update(_ secret: SecretAddress, _ change: (Result<Data?, any Error>) throws -> SecretChange) throws
}

/// What becomes of a secret.
public enum SecretChange: Equatable, Sendable {
    /// It stays as it is.
    case keep
    /// These bytes take its place.
    case write(Data)
    /// These bytes take its place, and the bytes before are kept at the first free
    /// ``SecretAddress/keptAside(_:)`` address.
    case writeKeepingAside(Data)
    /// It is removed.
    case remove
}

extension SecretStorage {

    public func update(_ secret: SecretAddress, _ change: (Result<Data?, any Error>) throws -> SecretChange) throws {
        let current = Result { try read(secret) }
        switch try change(current) {
        case .keep: break
        case .write(let data): try write(data, to: secret)
        case .writeKeepingAside(let data):
            if case .success(let old?) = current { try keepAside(old, of: secret) }
            try write(data, to: secret)
        case .remove: try remove(secret)
        }
    }

    private func keepAside(_ data: Data, of secret: SecretAddress) throws {
        var number = 1
        while true {
            let place = secret.keptAside(number)
            do {
                guard let taken = try read(place) else { return try write(data, to: place) }
                if taken == data { return }
            } catch let error as KeychainError where error.code == .undecodable {
                // Something is there, so the place is taken.
            }
            number += 1
        }
    }
}

extension SecretAddress {

    /// Where bytes are kept that were at this address, could not be decoded, and had to make room for a new value.
    ///
    /// ``SecretStorage/read(_:)`` gets them, ``SecretStorage/remove(_:)`` removes them for good.
    ///
    /// - Parameter number: 1 for those that were kept first.
    public func keptAside(_ number: Int = 1) -> SecretAddress {
        var place = self
        place.key += number == 1 ? ".undecodable" : ".undecodable-\(number)"
        return place
    }
}
