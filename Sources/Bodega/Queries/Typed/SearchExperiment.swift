import Foundation

/// Finds out whether the texts of an object are those in the members that its type declares, by encoding an object and
/// decoding variants of it, see ``IndexExperiment``.
struct SearchExperiment<Object: Codable> {
    let coder: JSONObjectCoder

    /// What is put into a member: a text, or a list of texts.
    private static var variants: [String] {
        [
            "\" aB\u{E9} \"", "\"\"", "\"\(String(repeating: "x ", count: 500))\"", "[\" aB\u{E9} \", \"\"]", "[]",
            "null",
        ]
    }

    /// - Returns: `nil` if the object shows nothing, because it has no text.
    func outcome(for object: Object) -> IndexTrusts.Trust? {
        (Object.self as? any Queryable.Type).flatMap { outcome($0, for: object) }
    }

    private func outcome<Known: Queryable>(_ type: Known.Type, for object: Object) -> IndexTrusts.Trust? {
        guard let object = object as? Known, let index = type.searchIndex, let json = encoded(object) else {
            return nil
        }
        let fields = type.searchable
        func texts(of object: Known) -> [String?] { fields.map { $0.text(object) } }
        let stored = StoredTexts(of: index)
        let known = texts(of: object)
        guard areEqual(known, stored.texts(of: json)) else { return .doubtful }
        for member in index.members {
            for variant in Self.variants {
                guard let changed = JSONText.setting(member.names, to: variant, in: json),
                    let decoded = decoded(type, from: changed)
                else { continue }
                if !areEqual(texts(of: decoded), stored.texts(of: changed)) { return .doubtful }
            }
        }
        return known.contains { $0 != nil } ? .trusted : nil
    }

    /// Returns whether an object that was decoded has the texts of its record.
    func agrees(_ object: Object, with data: Data) -> Bool {
        func agrees<Known: Queryable>(_ known: Known) -> Bool {
            guard let index = Known.searchIndex else { return true }
            return areEqual(Known.searchable.map { $0.text(known) }, StoredTexts(of: index).texts(of: data))
        }
        return (object as? any Queryable).map { agrees($0) } ?? true
    }

    /// Compares texts byte by byte.
    private func areEqual(_ left: [String?], _ right: [String?]) -> Bool {
        zip(left, right).allSatisfy { left, right in
            guard let left, let right else { return left == nil && right == nil }
            return left.hasSameBytes(as: right)
        }
    }

    private func encoded(_ object: some Encodable) -> Data? {
        do {
            return try coder.encode(object)
        } catch {
            // The caller that encodes it reports this.
            return nil
        }
    }

    private func decoded<Known: Decodable>(_ type: Known.Type, from json: Data) -> Known? {
        do {
            return try coder.decode(type, from: json)
        } catch {
            // The decoder refuses the variant.
            return nil
        }
    }
}
