import Bodega
import Foundation

/// The items that found items name, by declared references.
struct IncludedItems: Sendable {
    /// The references to follow, in the order of the options.
    let members: [ReferenceMember]
    private let store: OpenStore
    private let leftOut: LeftOutItems

    /// - Parameter leftOut: Receives the items of which it can't be known whether they are named.
    /// - Throws: A ``ToolError`` if no program has declared a reference of one of the paths.
    init(_ paths: [JSONPath], in store: OpenStore, leavingOut leftOut: LeftOutItems) async throws {
        (self.store, self.leftOut) = (store, leftOut)
        if store.encryption != nil {
            throw ToolError(.usage, "--include: what is in encrypted items can't be declared as a reference.")
        }
        let references = try await store.engine.references?.fetchReferences() ?? []
        members = try paths.map { path in
            let reference = references.first { StorageIndex.Member($0.path).isOver(path.member.path) }
            guard let reference else { throw ToolError(.usage, Self.refusal(path, references)) }
            return ReferenceMember(reference)
        }
    }

    private static func refusal(_ path: JSONPath, _ references: [StorageReference]) -> String {
        if references.isEmpty {
            return "--include \(path): no program has declared references of these items, see: bodega stat STORE"
        }
        let known = references.map(\.path).joined(separator: ", ")
        return "--include \(path): there is no such reference. The declared ones are: \(known)"
    }

    /// The titles of the columns.
    var titles: [String] {
        members.map { "\($0.reference.path) (\($0.reference.target.isEmpty ? "unnamed" : $0.reference.target))" }
    }

    /// Reads the items that some items name.
    ///
    /// - Returns: For each item and each reference, the items in the order in which it names them, without those that
    ///   don't exist.
    func items(namedBy items: [FoundItem]) async throws -> [[[Data]]] {
        var columns: [[[Data]]] = []
        for member in members {
            let named = items.map { member.identifiers(in: $0.data) }
            let wanted = Set(named.joined())
            let found = Locked<[ReferenceIdentifier: Data]>([:])
            if !wanted.isEmpty {
                do {
                    try await store.withCollection(named: member.reference.target) { target in
                        try await find(wanted, by: member, in: target, found)
                    }
                } catch let error as StorageError where store.address.engine == .server && error.code == .cannotOpen {
                    // For this client, there is no such collection.
                }
            }
            let data = found.withLock { $0 }
            columns.append(named.map { $0.compactMap { data[$0] } })
        }
        return items.indices.map { row in columns.map { $0[row] } }
    }

    /// Finds items by their identifiers: under the keys that a store gives them, otherwise among all items.
    private func find(
        _ wanted: Set<ReferenceIdentifier>, by member: ReferenceMember, in target: any StorageBackend,
        _ found: Locked<[ReferenceIdentifier: Data]>
    ) async throws {
        let receive: @Sendable (StorageItem) -> Bool = { [leftOut] item in
            guard let id = member.identifier(ofTarget: item.data), wanted.contains(id) else {
                if EncryptedItem.hasForm(item.data) { leftOut.unreadable.addEncrypted(item.key) }
                return true
            }
            return found.withLock { found in
                found[id] = found[id] ?? item.data
                return found.count < wanted.count
            }
        }
        let keys = wanted.flatMap { id -> [CacheKey] in
            let text: String
            switch id.sortKey {
            case .integer(let integer): text = "\(integer)"
            case .text(let own): text = own
            case .real, .none: return []
            }
            return [CacheKey(text), CacheKey(verbatim: text)]
        }
        let options = ReadOptions(omitsUnreadable: true)
        for item in try await target.fetch(FetchRequest(keys, options: options)).value { _ = receive(item) }
        if found.withLock({ $0.count }) == wanted.count { return }
        var request = ScanRequest()
        request.options = options
        _ = try await target.scan(request) { { _, item in receive(item) } }
    }
}
