import Foundation
import RecordCoder
import Testing

@Suite struct EncodingPathTests {

    @Test("Values have the same coding paths as in Foundation")
    func paths() {
        expectSamePaths { note in note }
        expectSamePaths { note in [note, note] }
        expectSamePaths { note in ["a": note] }
        expectSamePaths { note in ["7": [note], "a\"b\\\n": [note], "é": [note]] }
        expectSamePaths(by: .foundation) { note in [3: ["x": [note as Custom?]]] }
        expectSamePaths { note in [[[note]], [[], [note]]] }
        expectSamePaths { note in Wrapper(value: note, list: [Wrapper(value: note, list: [])]) }
        expectSamePaths { note in [Numbered(value: note)] }
    }

    @Test("Containers and the encoders of superclasses know their paths")
    func containerPaths() {
        expectSamePaths { note in
            [
                Custom { encoder in
                    var object = encoder.container(keyedBy: Letter.self)
                    try object.encode(spell(object.codingPath), forKey: .a)
                    try object.encode(spell(encoder.codingPath), forKey: .c)
                    var inner = object.nestedContainer(keyedBy: Letter.self, forKey: .b)
                    try inner.encode(spell(inner.codingPath), forKey: .b)
                    let superclass = object.superEncoder()
                    var members = superclass.container(keyedBy: Letter.self)
                    try members.encode(spell(superclass.codingPath), forKey: .a)
                    try members.encode([note], forKey: .b)
                    try note.encode(to: members.superEncoder(forKey: .c))
                }
            ]
        }
        expectSamePaths { note in
            Custom { encoder in
                var array = encoder.unkeyedContainer()
                try array.encode(note)
                try array.encode(spell(array.codingPath))
                var inner = array.nestedUnkeyedContainer()
                try inner.encode(spell(inner.codingPath))
                try array.encode([note])
                var single = encoder.singleValueContainer()
                if single.codingPath.count > 100 { try single.encodeNil() }
            }
        }
    }

    @Test("As in Foundation, the paths of values omit the keys of nested containers")
    func nestedPaths() {
        expectSamePaths(by: .foundation) { note in
            Custom { encoder in
                var object = encoder.container(keyedBy: Letter.self)
                var inner = object.nestedContainer(keyedBy: Letter.self, forKey: .b)
                try inner.encode(note, forKey: .c)
                try inner.encode(["x": [note]], forKey: .b)
                try note.encode(to: inner.superEncoder(forKey: .a))
                var array = object.nestedUnkeyedContainer(forKey: .c)
                try array.encode(note)
                let list = array.nestedUnkeyedContainer()
                try array.encode(spell(list.codingPath))
                var members = array.nestedContainer(keyedBy: Letter.self)
                try members.encode(spell(members.codingPath), forKey: .a)
                try members.encode(note, forKey: .b)
            }
        }
    }

    @Test("A path is right even if it is requested late")
    func late() {
        expectSamePaths(by: .foundation) { _ in
            Custom { encoder in
                var object = encoder.container(keyedBy: Letter.self)
                var inner = object.nestedContainer(keyedBy: Letter.self, forKey: .a)
                try inner.encode(1, forKey: .a)
                try object.encode(spell(inner.codingPath), forKey: .b)
                try object.encode(spell(inner.codingPath), forKey: .c)
            }
        }
        expectSamePaths(by: .foundation) { _ in
            [
                Custom { encoder in
                    var container = encoder.singleValueContainer()
                    try container.encode("x")
                    _ = spell(container.codingPath)
                }
            ]
        }
    }

    @Test("Keys of custom types are unchanged in paths")
    func ownKeys() {
        let asking = Custom { encoder in
            var container = encoder.singleValueContainer()
            switch encoder.codingPath.last {
            case let key as Letter: try container.encode("letter \(key)")
            case let key as AnyKey: try container.encode("any \(key)")
            case let key?: try container.encode("another \(key.stringValue)")
            case nil: try container.encode("none")
            }
        }
        expectSameEncoding(
            Custom { encoder in
                var letters = encoder.container(keyedBy: Letter.self)
                try letters.encode(asking, forKey: .a)
            }
        )
        // Keys that may hold references aren't kept, so that only Foundation knows them.
        expectSameEncoding(
            Custom { encoder in
                var others = encoder.container(keyedBy: AnyKey.self)
                try others.encode(asking, forKey: "x")
            },
            by: .foundation
        )
        expectSameEncoding([asking])
    }

    @Test("Paths include objects with many keys")
    func manyKeys() {
        expectSamePaths(by: .foundation) { note in
            Custom { encoder in
                var container = encoder.container(keyedBy: AnyKey.self)
                for number in 0..<100 { try container.encode(number, forKey: AnyKey(stringValue: "key \(number)")) }
                try container.encode(note, forKey: "last")
            }
        }
    }

    /// Expects that a value whose parts record their paths is encoded as Foundation encodes it.
    private func expectSamePaths(
        by author: Author = .us,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ value: (Custom) -> some Encodable
    ) {
        let note = Custom { encoder in
            let path = encoder.codingPath
            var container = encoder.singleValueContainer()
            try container.encode(spell(path))
        }
        expectSameEncoding(value(note), by: author, sourceLocation: sourceLocation)
    }
}

/// The keys of a path, so that they can be compared.
private func spell(_ path: [any CodingKey]) -> [String] {
    path.map { "\($0.stringValue), \($0.intValue.map(String.init) ?? "none")" }
}

private struct Wrapper: Encodable {
    var value: Custom
    var list: [Wrapper]
}

private struct Numbered: Encodable {
    var value: Custom

    enum CodingKeys: Int, CodingKey {
        case value = 42
    }
}
