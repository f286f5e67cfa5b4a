#if Server
import Bodega
public import Foundation

/// What a token gives the right to: some things in one collection, or in all.
public struct AccessGrant: Codable, Hashable, Sendable {
    /// The name of the collection; `nil` for all collections that no other grant of the token names.
    public var collection: String?
    /// A filter expression of RFC 9535 for the items, such as `@.owner == "ada"`; `nil` for all items.
    public var filter: String?
    /// What the client may do: `read`, `write`, `observe` and `manage`, see ``/Bodega/StorageScope/Rights``.
    public var rights: Set<Right>

    /// Something that a client may do.
    public enum Right: String, Codable, CaseIterable, Sendable {
        /// Reading items.
        case read
        /// Adding, overwriting and removing items.
        case write
        /// Following changes.
        case observe
        /// Creating and removing indexes, and declaring references.
        case manage
    }

    /// Creates a grant.
    ///
    /// - Parameters:
    ///   - collection: The name of the collection; `nil` for all others.
    ///   - filter: A filter expression of RFC 9535; `nil` for all items. Don't put a text of others into it: use an
    ///     access of your own with ``/Bodega/StorageScope/init(where:equals:rights:)``.
    ///   - rights: What the client may do.
    public init(
        collection: String? = nil, matching filter: String? = nil, rights: Set<Right> = [.read, .write, .observe]
    ) {
        (self.collection, self.filter, self.rights) = (collection, filter, rights)
    }

    func scope() throws -> StorageScope {
        let rights = self.rights.reduce(into: StorageScope.Rights()) { rights, right in
            switch right {
            case .read: rights.insert(.read)
            case .write: rights.insert(.write)
            case .observe: rights.insert(.observe)
            case .manage: rights.insert(.manage)
            }
        }
        return if let filter { try StorageScope(matching: filter, rights: rights) } else {
            StorageScope(rights: rights)
        }
    }
}

/// What is stored about a token: all but the secret that the client has.
public struct AccessToken: Codable, Hashable, Sendable {
    /// The identifier, which is a part of the token and is no secret.
    public let id: String
    /// What the token is for, for people.
    public let name: String
    /// What it gives the right to.
    public internal(set) var grants: [AccessGrant]
    /// When it was created.
    public let createdAt: Date
    /// When it ends to be valid; `nil` if it does not.
    public let expiresAt: Date?
    /// The SHA-256 of the secret.
    let hash: Data
}
#endif
