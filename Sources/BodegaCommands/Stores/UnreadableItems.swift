import Bodega
import Foundation

/// The items that a command could not read, while it has read others.
final class UnreadableItems: Sendable {
    private let errors = Locked<(all: [StorageError], keys: Set<CacheKey>)>(([], []))

    /// An error for each item.
    var all: [StorageError] { errors.withLock { $0.all } }

    /// Adds an item, unless it was added before.
    func add(_ error: StorageError) {
        errors.withLock { errors in
            if let key = error.key, !errors.keys.insert(key).inserted { return }
            errors.all.append(error)
        }
    }

    /// Reads a single item, and adds it if it can't be read.
    ///
    /// - Throws: The errors that are not about a single item.
    func collecting(_ read: () async throws -> Void) async throws {
        do {
            try await read()
        } catch let error as StorageError where error.key != nil {
            add(error)
        }
    }

    /// Adds an item that is encrypted, and for which the user has given no keyset.
    func addEncrypted(_ key: CacheKey) {
        add(StorageError(.encryptionKeyMissing, "The item seems to be encrypted, and no keyset was given.", key: key))
    }

    /// The advice for items that can't be decrypted.
    static let keysetAdvice = """
        Give the keyset that the items were written with (--keyset FILE, or the variable BODEGA_KEYSET), and the name \
        of the collection that was authenticated with them (--keyset-collection NAME).
        """

    /// Throws an error that lists the items, if there are any.
    ///
    /// - Parameters:
    ///   - outcome: What the command did not do with the items, such as "could not be copied".
    ///   - advice: What to do about items that can't be decrypted.
    func check(_ outcome: String, advice: String = keysetAdvice) throws {
        if let error = error(outcome, advice: advice) { throw error }
    }

    /// The error of ``check(_:advice:)``, `nil` if there are no items.
    func error(_ outcome: String, advice: String = keysetAdvice) -> ToolError? {
        let errors = all
        if errors.isEmpty { return nil }
        var lines = ["\(Counted.text(errors.count, "item")) \(outcome):"]
        lines += ToolError.list(errors.map { "\($0.key.map { "\($0)" } ?? ""): \($0.message)" })
        if errors.contains(where: \.isOfKeyset) { lines.append(advice) }
        return ToolError(.failure, lines.joined(separator: "\n"))
    }
}
