import BodegaSync
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// What a program does not know stays in random items. Set `EMPORIUM_SEED` to repeat a run that failed.
@Suite struct RandomPreservingTests {
    private let seed = Seed.current

    init() { print("preserving: EMPORIUM_SEED=\(seed)") }

    @Test("What a program sees of the result is what it has written")
    func known() throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<TestSizes.merges {
            let stored = Tree.randomObject(&random, depth: 5)
            let known = stored.known.reordered(&random)
            let new = known.withEditedElements(&random)
            let texts = [stored.data(&random), known.data(&random), new.data(&random)]
            let result = try Tree(JSONMerge.preserving(texts[2], known: texts[1], stored: texts[0]))
            let comment = comment(texts)
            // A program reads sets in any order, and nothing has changed where nothing has.
            #expect(new == known ? result == stored : result.known.sorted == new.sorted, comment)
        }
    }

    private func comment(_ texts: [Data]) -> Comment {
        Comment(rawValue: texts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n\n"))
    }

    @Test("What a program does not know stays in all objects that it leaves in their place")
    func unknown() throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<TestSizes.merges {
            let stored = Tree.randomObject(&random, depth: 5)
            let new = stored.known.withEditedScalars(&random)
            let texts = [stored.data(&random), stored.known.data(&random), new.data(&random)]
            let result = try Tree(JSONMerge.preserving(texts[2], known: texts[1], stored: texts[0]))
            #expect(result.known == new, comment(texts))
            #expect(result.unknown == stored.unknown, comment(texts))
        }
    }
}

extension Tree {
    private func map(_ transform: (String, Tree) -> Tree?, elements: ([Tree]) -> [Tree]) -> Tree {
        switch self {
        case .object(let members):
            .object(
                Dictionary(
                    uniqueKeysWithValues: members.compactMap { name, value in
                        transform(name, value).map { (name, $0) }
                    }))
        case .array(let values): .array(elements(values))
        default: self
        }
    }

    /// The tree as a program sees it that does not know two of the six names.
    fileprivate var known: Tree {
        map({ name, value in name == "e" || name == "f" ? nil : value.known }, elements: { $0.map(\.known) })
    }

    /// The tree with nothing but what the program does not know.
    fileprivate var unknown: Tree {
        let tree = map(
            { name, value in name == "e" || name == "f" ? value : value.unknown }, elements: { $0.map(\.unknown) })
        return tree == self && members == nil && !isArray ? .null : tree
    }

    private var isArray: Bool { if case .array = self { true } else { false } }

    /// The tree with all arrays in a certain order.
    fileprivate var sorted: Tree {
        map({ $1.sorted }, elements: { $0.map(\.sorted).sorted { "\($0.canonical)" < "\($1.canonical)" } })
    }

    private var canonical: String {
        switch self {
        case .object(let members):
            "{" + members.sorted { $0.key < $1.key }.map { "\($0):\($1.canonical)" }.joined(separator: ",") + "}"
        case .array(let elements): "[" + elements.map(\.canonical).joined(separator: ",") + "]"
        default: "\(self)"
        }
    }

    /// The tree with arrays of objects, and of texts and numbers, in another order, as Swift encodes sets.
    fileprivate func reordered(_ random: inout SeededGenerator) -> Tree {
        switch self {
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            return .object(Dictionary(uniqueKeysWithValues: sorted.map { ($0, $1.reordered(&random)) }))
        case .array(let elements):
            let isSet = Set(elements.map { $0.members != nil ? 0 : $0.isArray ? 1 : 2 }).count == 1
            let same = elements.map { $0.isArray ? $0 : $0.reordered(&random) }
            return .array(isSet && Bool.random(using: &random) ? same.shuffled(using: &random) : same)
        default: return self
        }
    }

    /// The tree after random edits of the kinds that a program does, most of them in arrays.
    fileprivate func withEditedElements(_ random: inout SeededGenerator) -> Tree {
        func fresh(_ random: inout SeededGenerator) -> Tree { Tree.random(&random, depth: 2).known }
        switch self {
        case .object(let members):
            var result: [String: Tree] = [:]
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                switch Int.random(in: 0..<14, using: &random) {
                case 0: continue
                case 1: result[name] = fresh(&random)
                default: result[name] = value.withEditedElements(&random)
                }
            }
            if Int.random(in: 0..<8, using: &random) == 0 { result["d"] = fresh(&random) }
            return .object(result)
        case .array(let elements):
            var result: [Tree] = []
            for element in elements {
                switch Int.random(in: 0..<12, using: &random) {
                case 0: continue
                case 1: result += [element, fresh(&random)]
                case 2: result.insert(element, at: 0)
                case 3: result.append(fresh(&random))
                default: result.append(element.withEditedElements(&random))
                }
            }
            return .array(result)
        default: return Int.random(in: 0..<8, using: &random) == 0 ? fresh(&random) : self
        }
    }

    /// The tree with other texts and numbers in objects.
    fileprivate func withEditedScalars(_ random: inout SeededGenerator) -> Tree {
        switch self {
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            return .object(Dictionary(uniqueKeysWithValues: sorted.map { ($0, $1.withEditedScalars(&random)) }))
        case .array(let elements):
            // Those in arrays could be keys of a dictionary.
            return .array(elements.map { $0.isArray || $0.members != nil ? $0.withEditedScalars(&random) : $0 })
        case .null, .bool: return self
        default:
            let isEdited = Int.random(in: 0..<10, using: &random) == 0
            return isEdited ? .number(Double(Int.random(in: 1_000...1_000_000, using: &random))) : self
        }
    }
}
