import Foundation

/// Describes a value so that two values of one type have the same description only if they are indistinguishable.
///
/// This is stricter than `==`: it includes the sign of zeros and the scalars of strings. The members of dictionaries
/// and sets are sorted, because their order differs between equal values. The description is ASCII.
package func exactDescription(of value: Any) -> String {
    if let leaf = leaves[ObjectIdentifier(type(of: value))] { return leaf(value) }
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .optional:
        return mirror.children.first.map { "some(\(exactDescription(of: $0.value)))" } ?? "nil"
    case .collection:
        return "[\(mirror.children.map { exactDescription(of: $0.value) }.joined(separator: ", "))]"
    case .dictionary, .set:
        return "{\(mirror.children.map { exactDescription(of: $0.value) }.sorted().joined(separator: ", "))}"
    default:
        let members = members(of: mirror)
        return members.isEmpty
            ? exactDescription(of: String(describing: value)) : "(\(members.joined(separator: ", ")))"
    }
}

/// The members of a value, a superclass's first.
private func members(of mirror: Mirror) -> [String] {
    let inherited = mirror.superclassMirror.map(members(of:)) ?? []
    return inherited + mirror.children.map { "\($0.label ?? "_"): \(exactDescription(of: $0.value))" }
}

/// The types without members, keyed by the type's identity, because a cast to each of them would take too long.
private let leaves: [ObjectIdentifier: @Sendable (Any) -> String] = {
    var leaves: [ObjectIdentifier: @Sendable (Any) -> String] = [:]
    func add<Leaf>(_ type: Leaf.Type, _ spell: @escaping @Sendable (Leaf) -> String) {
        // The entry is found by the type of the value, so the cast succeeds.
        leaves[ObjectIdentifier(type)] = { ($0 as? Leaf).map(spell) ?? "" }
    }
    add(String.self) { text in
        "\"" + text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined(separator: "") + "\""
    }
    add(Bool.self, \.description)
    add(Int.self, \.description)
    add(Int8.self, \.description)
    add(Int16.self, \.description)
    add(Int32.self, \.description)
    add(Int64.self, \.description)
    add(UInt.self, \.description)
    add(UInt8.self, \.description)
    add(UInt16.self, \.description)
    add(UInt32.self, \.description)
    add(UInt64.self, \.description)
    // The description of a floating-point number is its shortest spelling that parses as the same number, including the
    // sign.
    add(Double.self, \.description)
    add(Float.self, \.description)
    add(Decimal.self, \.description)
    add(UUID.self, \.uuidString)
    add(Data.self) { $0.base64EncodedString() }
    add(Date.self) { "date(\($0.timeIntervalSinceReferenceDate))" }
    add(CharacterSet.self) { $0.bitmapRepresentation.base64EncodedString() }
    add(URL.self) { "url(\(exactDescription(of: $0.relativeString)), \(exactDescription(of: $0.baseURL as Any)))" }
    return leaves
}()
