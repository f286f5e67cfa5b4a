import BodegaTesting
import Foundation

/// A filter expression that a test evaluates by itself.
package indirect enum ModelFilter {
    case or(ModelFilter, ModelFilter)
    case and(ModelFilter, ModelFilter)
    case not(ModelFilter)
    case exists([ModelValue.Step])
    case compare(Operand, String, Operand)
    /// A string begins with some letters, and no line ends after them.
    case begins(Operand, String)
    /// A string contains some letters.
    case contains(Operand, String)

    package enum Operand {
        case literal(ModelValue)
        case path([ModelValue.Step])
        case length([ModelValue.Step])

        package func value(in item: ModelValue) -> ModelValue? {
            switch self {
            case .literal(let value): return value
            case .path(let path): return item[path].flatMap { $0.isBroken ? nil : $0 }
            case .length(let path):
                guard let value = item[path], !value.isBroken else { return nil }
                switch value {
                case .string(let scalars, _): return .number("\(scalars.count)")
                case .array(let elements): return .number("\(elements.count)")
                case .object(let members): return .number("\(ModelValue.distinct(members).count)")
                default: return nil
                }
            }
        }

        package var text: String {
            switch self {
            case .literal(let value): value.text
            case .path(let path): ModelFilter.text(of: path)
            case .length(let path): "length(\(ModelFilter.text(of: path)))"
            }
        }
    }

    package func accepts(_ item: ModelValue) -> Bool {
        switch self {
        case .or(let left, let right): return left.accepts(item) || right.accepts(item)
        case .and(let left, let right): return left.accepts(item) && right.accepts(item)
        case .not(let filter): return !filter.accepts(item)
        case .exists(let path): return item[path] != nil
        case .compare(let left, let comparison, let right):
            let (left, right) = (left.value(in: item), right.value(in: item))
            guard let left, let right else {
                let areBothMissing = left == nil && right == nil
                return comparison == "!=" ? !areBothMissing : areBothMissing && ["==", "<=", ">="].contains(comparison)
            }
            switch comparison {
            case "==": return ModelValue.areEqual(left, right)
            case "!=": return !ModelValue.areEqual(left, right)
            case "<": return ModelValue.isLess(left, right)
            case ">": return ModelValue.isLess(right, left)
            case "<=": return ModelValue.areEqual(left, right) || ModelValue.isLess(left, right)
            default: return ModelValue.areEqual(left, right) || ModelValue.isLess(right, left)
            }
        case .begins(let operand, let letters):
            guard case .string(let scalars, _)? = operand.value(in: item) else { return false }
            return scalars.starts(with: letters.unicodeScalars) && !scalars.contains("\n") && !scalars.contains("\r")
        case .contains(let operand, let letters):
            guard case .string(let scalars, _)? = operand.value(in: item) else { return false }
            let wanted = Array(letters.unicodeScalars)
            return scalars.indices.contains { scalars[$0...].starts(with: wanted) }
        }
    }

    /// The expression of RFC 9535.
    package var text: String {
        switch self {
        case .or(let left, let right): "(\(left.text) || \(right.text))"
        case .and(let left, let right): "(\(left.text) && \(right.text))"
        case .not(let filter): "!(\(filter.text))"
        case .exists(let path): Self.text(of: path)
        case .compare(let left, let comparison, let right): "\(left.text) \(comparison) \(right.text)"
        case .begins(let operand, let letters): "match(\(operand.text), '\(letters).*')"
        case .contains(let operand, let letters): "search(\(operand.text), '\(letters)')"
        }
    }

    package static func text(of path: [ModelValue.Step]) -> String {
        "@"
            + path.map { step in
                switch step {
                case .index(let index): return "[\(index)]"
                case .name(let name):
                    let isPlain = !name.isEmpty && name.utf8.allSatisfy { 97...122 ~= $0 || 65...90 ~= $0 }
                    return isPlain ? ".\(name)" : "[\(ModelSamples.plainSpelling(of: name))]"
                }
            }.joined()
    }
}
