import BodegaTesting
import Foundation

/// JSON as Foundation decodes it.
indirect enum Tree: Hashable, Decodable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case array([Tree])
    case object([String: Tree])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([Tree].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: Tree].self))
        }
    }

    init(_ data: Data) throws { self = try JSONDecoder().decode(Tree.self, from: data) }

    var members: [String: Tree]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The values without members, arrays as a whole, by their normalized paths. All names are letters.
    func leaves(at path: String = "$") -> [String: Tree] {
        guard let members, !members.isEmpty else { return [path: self] }
        return members.reduce(into: [:]) { leaves, member in
            leaves.merge(member.value.leaves(at: "\(path)['\(member.key)']")) { _, last in last }
        }
    }

    /// The text, each time spelled in another way.
    func text(_ random: inout SeededGenerator) -> String {
        var space: String { Int.random(in: 0..<6, using: &random) == 0 ? " \n\t" : "" }
        func list(_ texts: [String], _ random: inout SeededGenerator) -> String {
            texts.map { " ".prefix(Int.random(in: 0...1, using: &random)) + $0 }.joined(separator: ",")
        }
        switch self {
        case .null: return "null"
        case .bool(let value): return "\(value)"
        case .number(let value):
            guard let whole = Int(exactly: value) else { return "\(value)" }
            return ["\(whole)", "\(whole).0", "\(whole).000e0", "0.\(whole)e\("\(whole)".count)"].randomElement(
                using: &random) ?? ""
        case .text(let value): return Tree.string(value, &random)
        case .array(let elements): return "[" + space + list(elements.map { $0.text(&random) }, &random) + space + "]"
        case .object(let members):
            // Hashing differs between runs, and a seed must repeat a run.
            let sorted = members.sorted { $0.key < $1.key }.shuffled(using: &random)
            let texts = sorted.map { Tree.string($0.key, &random) + space + ":" + $0.value.text(&random) }
            return "{" + space + list(texts, &random) + "}"
        }
    }

    private static func string(_ value: String, _ random: inout SeededGenerator) -> String {
        let scalars = value.unicodeScalars.map { scalar in
            Int.random(in: 0..<8, using: &random) == 0 && scalar.isASCII
                ? String(format: "\\u%04x", scalar.value) : String(scalar)
        }
        return "\"" + scalars.joined() + "\""
    }

    func data(_ random: inout SeededGenerator) -> Data { Data(text(&random).utf8) }
}

// MARK: - Random trees

extension Tree {
    static let names = ["a", "b", "c", "d", "e", "f"]

    static func random(_ random: inout SeededGenerator, depth: Int) -> Tree {
        switch Int.random(in: 0..<(depth > 0 ? 11 : 7), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2...3: return .number(Double(Int.random(in: 2...6, using: &random)) / 2 * 3)
        case 4...5: return .text(["", "x", "é", "🙂 y"].randomElement(using: &random) ?? "")
        case 6...7:
            let count = Int.random(in: 0...3, using: &random)
            return .array((0..<count).map { _ in .random(&random, depth: depth - 1) })
        default: return .randomObject(&random, depth: depth)
        }
    }

    static func randomObject(_ random: inout SeededGenerator, depth: Int) -> Tree {
        var members: [String: Tree] = [:]
        for name in names where Int.random(in: 0..<5, using: &random) < 2 {
            members[name] = .random(&random, depth: depth - 1)
        }
        return .object(members)
    }

    /// The tree after some random edits.
    func edited(_ random: inout SeededGenerator, depth: Int) -> Tree {
        guard var members, Int.random(in: 0..<12, using: &random) > 0 else { return .random(&random, depth: depth) }
        for name in Tree.names {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: members[name] = nil
            case 1: members[name] = .random(&random, depth: depth - 1)
            case 2...4: members[name] = members[name]?.edited(&random, depth: depth - 1)
            default: break
            }
        }
        return .object(members)
    }
}
