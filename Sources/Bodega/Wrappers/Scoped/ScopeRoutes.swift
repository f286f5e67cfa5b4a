import Foundation
import RecordCoder

/// Finds the scopes that an item can be in without asking each of them.
///
/// Most filters need a text in a member, such as `@.owner == "ada"`. They are found by that text, and the others are
/// asked in turn. A scope that is found still decides by itself: see ``scopes(of:)``.
struct ScopeRoutes: Sendable {
    private struct Member {
        let path: JSONQuery
        var numbers: [ExactText: Set<Int>] = [:]
    }

    private var members: [Member] = []
    private var others: Set<Int> = []
    private var scopes: [Int: StorageScope] = [:]

    mutating func add(_ scope: StorageScope, _ number: Int) {
        scopes[number] = scope
        guard let required = scope.requiredText else {
            others.insert(number)
            return
        }
        let index = members.firstIndex { $0.path == required.path }
        if index == nil { members.append(Member(path: required.path)) }
        members[index ?? members.count - 1].numbers[ExactText(required.text), default: []].insert(number)
    }

    mutating func remove(_ number: Int) {
        guard let scope = scopes.removeValue(forKey: number) else { return }
        others.remove(number)
        guard let required = scope.requiredText, let index = members.firstIndex(where: { $0.path == required.path })
        else { return }
        let text = ExactText(required.text)
        members[index].numbers[text]?.remove(number)
        if members[index].numbers[text]?.isEmpty ?? false { members[index].numbers[text] = nil }
        if members[index].numbers.isEmpty { members.remove(at: index) }
    }

    /// The numbers of the scopes that an item is in.
    func scopes(of data: Data) -> Set<Int> {
        var found = others
        if !members.isEmpty {
            data.withUnsafeBytes { bytes in
                guard isValidUTF8(bytes), let range = JSONScanner.document(bytes) else { return }
                for member in members {
                    guard case .string(let text)? = JSONFilter.Operand.query(member.path).value(in: bytes, range),
                        let numbers = member.numbers[ExactText(text)]
                    else { continue }
                    found.formUnion(numbers)
                }
            }
        }
        return found.filter { scopes[$0]?.contains(data) ?? false }
    }
}

extension JSONFilter {
    /// A text that a member of each value has that the condition accepts; `nil` if none is known.
    var requiredText: (path: JSONQuery, text: String)? {
        switch self {
        case .and(let left, let right): left.requiredText ?? right.requiredText
        case .compare(.query(let path), .equal, .literal(.string(let text))),
            .compare(.literal(.string(let text)), .equal, .query(let path)):
            (path, text)
        default: nil
        }
    }
}
