package import Foundation
import Logging
import RecordCoder

/// Reads the identifiers of a reference in items.
package struct ReferenceMember: Sendable {
    package let reference: StorageReference
    private let source: JSONQuery
    private let target: JSONQuery

    /// Reads the identifiers of a reference.
    package init(_ reference: StorageReference) {
        self.reference = reference
        source = StorageIndex.Member(reference.path).query
        target = StorageIndex.Member(reference.targetPath).query
    }

    /// The identifiers that an item has in its member, each as often as it has it; none if it is not JSON.
    package func identifiers(in item: Data) -> [ReferenceIdentifier] {
        item.withUnsafeBytes { bytes in (elements(in: bytes) ?? []).map(\.id).filter { $0.sortKey != .none } }
    }

    /// The identifier of an item of the other collection that is about to be removed. If it has none, nothing follows
    /// from the removal; a warning says so, once for each reference.
    func identifier(ofRemoved item: Data) -> ReferenceIdentifier? {
        let id = identifier(ofTarget: item)
        if id == nil, Self.reported.withLock({ $0.insert(reference).inserted }) {
            bodegaLogger.warning(
                """
                An item is removed that others may name, but it has no identifier, so nothing is done with those. \
                Declare the reference with the path at which the items are stored with their identifiers. They can't \
                be encrypted.
                """,
                metadata: [
                    "collection": "\(reference.target)", "path": "\(reference.targetPath)",
                    "named in": "\(reference.path)",
                ])
        }
        return id
    }

    /// The references about which a warning was logged.
    private static let reported = Locked<Set<StorageReference>>([])

    /// The identifier of an item of the other collection, `nil` if it has none.
    package func identifier(ofTarget item: Data) -> ReferenceIdentifier? {
        item.withUnsafeBytes { bytes in
            guard let range = JSONScanner.validDocument(bytes), let member = target.find(in: bytes, range) else {
                return nil
            }
            let id = ReferenceIdentifier(bytes, member)
            return id.sortKey == .none ? nil : id
        }
    }

    /// An item without some identifiers: its member is `null`, or its list lacks them.
    ///
    /// - Returns: `nil` if the item can't be written in this way.
    func clearing(_ identifiers: Set<ReferenceIdentifier>, in item: Data) -> Data? {
        let names = StorageIndex.Member(reference.path).names
        guard reference.isList else { return JSONText.setting(names, to: "null", in: item) }
        let rest = item.withUnsafeBytes { bytes in
            elements(in: bytes)?.filter { !identifiers.contains($0.id) }.map {
                String(decoding: bytes[$0.range], as: UTF8.self)
            }
        }
        return rest.flatMap { JSONText.setting(names, to: "[\($0.joined(separator: ","))]", in: item) }
    }

    /// The identifiers in the member with their ranges, and each `null` of a list; `nil` if there is no such member.
    private func elements(in bytes: UnsafeRawBufferPointer) -> [(id: ReferenceIdentifier, range: Range<Int>)]? {
        guard let range = JSONScanner.validDocument(bytes), let member = source.find(in: bytes, range) else {
            return nil
        }
        var elements: [(id: ReferenceIdentifier, range: Range<Int>)] = []
        if !reference.isList {
            elements = [(ReferenceIdentifier(bytes, member), member)]
        } else if bytes[member.lowerBound] == UInt8(ascii: "[") {
            JSONScanner.forEachElement(of: bytes, member) { elements.append((ReferenceIdentifier(bytes, $0), $0)) }
        }
        return elements.filter { $0.id.sortKey != .none || reference.isList }
    }
}

extension JSONScanner {
    /// The range of the JSON value that a text consists of; `nil` if the text is not JSON or not UTF-8.
    fileprivate static func validDocument(_ bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        isValidUTF8(bytes) ? document(bytes) : nil
    }
}
