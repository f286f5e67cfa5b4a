import Bodega
import Foundation

/// The identifiers in items for which there is no item.
struct DanglingReferences {
    /// The maximum number of findings for each reference.
    private static let limit = 100

    /// Finds them in a collection.
    ///
    /// - Parameters:
    ///   - source: The collection.
    ///   - place: Its name in a sentence, such as ` of the collection "notes"`.
    ///   - target: Runs a closure with the collection of a name, unless it does not exist.
    /// - Returns: A remark for each: no data is known to be lost.
    static func find(
        in source: any StorageBackend, _ place: String,
        target: (String, (any StorageBackend) async throws -> Void) async throws -> Void
    ) async throws -> [StorageFinding] {
        var findings: [StorageFinding] = []
        for reference in try await source.references?.fetchReferences() ?? [] {
            let member = ReferenceMember(reference)
            let known = Locked<(identifiers: Set<ReferenceIdentifier>, unknown: Int)>(([], 0))
            try await target(reference.target) { engine in
                let unreadable = try await read(engine) { item in
                    if let id = member.identifier(ofTarget: item.data) {
                        known.withLock { _ = $0.identifiers.insert(id) }
                    } else if EncryptedItem.hasForm(item.data) {
                        known.withLock { $0.unknown += 1 }
                    }
                }
                known.withLock { $0.unknown += unreadable }
            }
            let (identifiers, unknown) = known.withLock { $0 }
            let dangling = Locked<[(key: CacheKey, id: ReferenceIdentifier)]>([])
            try await read(source) { item in
                for id in member.identifiers(in: item.data) where !identifiers.contains(id) {
                    dangling.withLock { $0.append((item.key, id)) }
                }
            }
            let found = dangling.withLock { $0 }
            let collection = reference.target.isEmpty ? "the unnamed one" : "\"\(reference.target)\""
            if unknown > 0, !found.isEmpty {
                // One of these may be the item that is named.
                let references = Counted.text(found.count, "reference")
                let items = Counted.text(unknown, "item")
                findings.append(
                    StorageFinding(
                        .remark,
                        """
                        There is no readable item for \(references)\(place) in "\(reference.path)". Because \
                        \(items) of the collection \(collection) can't be read, for example encrypted ones, these \
                        references need not be dangling.
                        """))
                continue
            }
            findings += found.prefix(limit).map { key, id in
                StorageFinding(
                    .remark,
                    """
                    The item\(place) names \(id.description) in its member "\(reference.path)", but no item of the \
                    collection \(collection) has this as its "\(reference.targetPath)".
                    """,
                    key: key)
            }
            if found.count > limit {
                let more = Counted.text(found.count - limit, "more reference")
                findings.append(
                    StorageFinding(.remark, "There are \(more)\(place) in \"\(reference.path)\" without an item."))
            }
        }
        return findings
    }

    /// Reads all items of a collection.
    ///
    /// - Returns: The number of items that could not be read.
    @discardableResult
    static func read(
        _ engine: any StorageBackend, _ receive: @escaping @Sendable (StorageItem) -> Void
    ) async throws -> Int {
        var request = ScanRequest()
        request.options = ReadOptions(omitsUnreadable: true)
        let answer = try await engine.scan(request) {
            { _, item in
                receive(item)
                return true
            }
        }
        return answer.report.unreadable.count
    }
}
