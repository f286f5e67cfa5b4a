import Bodega
import Foundation
import RecordCoder

extension IdentifierText {

    /// Returns the identifier with a text, or `nil` if the text cannot be parsed.
    static func identifier<ID: Hashable>(of text: String, as type: ID.Type = ID.self) -> ID? {
        guard let found = candidate(text, type) as? ID, Identity(found) == .text(ExactText(text)) else { return nil }
        return found
    }

    /// Parses a text. The text of the result may differ.
    private static func candidate(_ text: String, _ type: Any.Type) -> Any? {
        switch type {
        case is UUID.Type: UUID(uuidString: text)
        case is URL.Type: URL(string: text)
        case let type as any LosslessStringConvertible.Type: type.init(text)
        case let type as any RawRepresentable.Type: rawRepresentable(text, type)
        case let type as any Decodable.Type: decoded(text, type)
        default: nil
        }
    }

    private static func rawRepresentable<Value: RawRepresentable>(_ text: String, _ type: Value.Type) -> Any? {
        (candidate(text, Value.RawValue.self) as? Value.RawValue).flatMap { Value(rawValue: $0) }
    }

    private static func decoded<Value: Decodable>(_ text: String, _ type: Value.Type) -> Any? {
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8).withoutBracketAtTheEnd)
        } catch {
            // The text is not a value of this type.
            return nil
        }
    }
}
