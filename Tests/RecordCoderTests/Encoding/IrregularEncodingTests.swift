import Foundation
import RecordCoder
import Testing

/// Values with unusual behavior, for which the encoder falls back to Foundation.
@Suite struct IrregularEncodingTests {

    @Test("Nested objects can be written alternately")
    func interleavedObjects() {
        expectLeftToFoundation(
            object { container in
                var first = container.nestedContainer(keyedBy: Letter.self, forKey: .a)
                var second = container.nestedContainer(keyedBy: Letter.self, forKey: .b)
                try first.encode(1, forKey: .a)
                try second.encode(2, forKey: .a)
                try first.encode(3, forKey: .b)
                try container.encode(4, forKey: .c)
                try second.encode([5], forKey: .b)
            }
        )
    }

    @Test("Nested arrays can be written alternately, even up to a certain count")
    func interleavedArrays() {
        expectLeftToFoundation(
            Custom { encoder in
                var array = encoder.unkeyedContainer()
                var first = array.nestedUnkeyedContainer()
                var second = array.nestedUnkeyedContainer()
                try first.encode(1)
                try second.encode("2")
                try array.encode(3)
                while first.count < 5 { try first.encode(first.count) }
                var inner = second.nestedContainer(keyedBy: Letter.self)
                try first.encodeNil()
                try inner.encode(true, forKey: .a)
                var list = second.nestedUnkeyedContainer()
                while list.count < 3 { try list.encode(1.5) }
            }
        )
    }

    @Test("An object can be written after its enclosing object")
    func parentFirst() {
        expectLeftToFoundation(
            object { container in
                var inner = container.nestedContainer(keyedBy: Letter.self, forKey: .a)
                try container.encode(1, forKey: .b)
                try inner.encode(2, forKey: .a)
            }
        )
    }

    @Test("A value can write to a container of an enclosing value")
    func writingOutside() {
        for isNested in [false, true] {
            expectLeftToFoundation(
                Custom { encoder in
                    var outer = encoder.container(keyedBy: AnyKey.self)
                    let same = outer
                    let inner = Custom { encoder in
                        var container = encoder.container(keyedBy: Letter.self)
                        try container.encode(1, forKey: .a)
                        var outside = same
                        try outside.encode(2, forKey: "outside")
                        if isNested { try container.encode(3, forKey: .b) }
                    }
                    try outer.encode(["k": [inner]], forKey: "x")
                    try outer.encode([inner], forKey: "y")
                }
            )
        }
    }

    @Test("An element of a collection can write to the encoder of the collection")
    func writingToTheCollection() {
        for isArray in [false, true] {
            let value = Custom { encoder in
                let inner = Custom { own in
                    var container = own.singleValueContainer()
                    try container.encode(1)
                    if isArray {
                        var array = encoder.unkeyedContainer()
                        try array.encode(2)
                    } else {
                        var object = encoder.container(keyedBy: AnyKey.self)
                        try object.encode(2, forKey: "outside")
                    }
                }
                // Foundation's result doesn't matter, as long as it doesn't crash.
                var array = encoder.unkeyedContainer()
                try array.encode([inner])
            }
            if isArray { expectLeftToFoundation(value) }
        }
    }

    @Test("A superclass's encoder can be used later, or not at all")
    func lateSuperEncoder() {
        expectLeftToFoundation(
            object { container in
                let late = container.superEncoder()
                try container.encode(1, forKey: .a)
                try 7.encode(to: late)
            }
        )
        expectLeftToFoundation(
            object { container in
                let late = container.superEncoder(forKey: .b)
                try container.encode(1, forKey: .a)
                try ["x": 1].encode(to: late)
            }
        )
        expectLeftToFoundation(
            object { container in
                _ = container.superEncoder()
                try container.encode(1, forKey: .a)
            }
        )
        expectLeftToFoundation([object { container in _ = container.superEncoder(forKey: .b) }])
        expectLeftToFoundation(
            [
                Custom { encoder in
                    var array = encoder.unkeyedContainer()
                    try array.encode(1)
                    try ["x"].encode(to: array.superEncoder())
                    try array.encode(2)
                }
            ]
        )
        expectLeftToFoundation(
            Custom { encoder in
                var array = encoder.unkeyedContainer()
                _ = array.superEncoder()
                _ = array.superEncoder()
            }
        )
    }

    @Test("Of two values under the same key, the last one counts")
    func duplicateKeys() {
        expectLeftToFoundation(
            object { container in
                try container.encode(1, forKey: .a)
                try container.encode(2, forKey: .b)
                try container.encode("3", forKey: .a)
            }
        )
        expectLeftToFoundation(
            object { container in
                try container.encode(1, forKey: .super)
                try 2.encode(to: container.superEncoder())
            }
        )
        expectLeftToFoundation(
            Custom { encoder in
                var first = encoder.container(keyedBy: Letter.self)
                try first.encode(1, forKey: .a)
                var second = encoder.container(keyedBy: AnyKey.self)
                try second.encode(2, forKey: "a")
            }
        )
        expectLeftToFoundation(
            object { container in
                var first = container.nestedContainer(keyedBy: Letter.self, forKey: .a)
                try first.encode(1, forKey: .a)
                var again = container.nestedContainer(keyedBy: Letter.self, forKey: .a)
                try again.encode(2, forKey: .b)
            }
        )
    }

    @Test("Keys are the same if they are canonically equivalent")
    func equivalentKeys() {
        expectLeftToFoundation(
            Custom { encoder in
                var container = encoder.container(keyedBy: AnyKey.self)
                try container.encode(1, forKey: "\u{E9}")
                try container.encode(2, forKey: "e\u{301}")
            }
        )
    }

    @Test("Errors are Foundation's, and those of values are passed on")
    func errors() {
        struct Failure: Error {}
        let failing = Custom { _ in throw Failure() }
        let invalid = Custom { encoder in
            let context = EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "x")
            throw EncodingError.invalidValue(1, context)
        }
        for value in [failing, invalid] {
            expectLeftToFoundation(value)
            expectLeftToFoundation([value])
            expectLeftToFoundation(["a": [value]])
            expectLeftToFoundation(object { try $0.encode(value, forKey: .a) })
            expectLeftToFoundation(object { try $0.encode([value], forKey: .a) })
        }
    }

    @Test("A value can catch errors and continue")
    func caughtErrors() {
        struct Failure: Error {}
        let halfway = Custom { encoder in
            var container = encoder.container(keyedBy: Letter.self)
            try container.encode(1, forKey: .a)
            throw Failure()
        }
        expectLeftToFoundation(
            object { container in
                do { try container.encode(halfway, forKey: .a) } catch { try container.encode("\(error)", forKey: .b) }
                try container.encode(1, forKey: .c)
            }
        )
        expectLeftToFoundation(
            object { container in
                do {
                    try container.encode([Double.nan], forKey: .a)
                } catch {
                    try container.encode("\(error)", forKey: .b)
                }
            }
        )
        expectLeftToFoundation(
            Custom { encoder in
                var array = encoder.unkeyedContainer()
                while array.count < 3 {
                    do { try array.encode(Float.infinity) } catch { try array.encode("none") }
                }
            }
        )
    }

    #if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
    @Test("Containers of two kinds in the same place crash, as in Foundation")
    func twoKinds() async {
        await #expect(processExitsWith: .failure) {
            let value = Custom { encoder in
                var object = encoder.container(keyedBy: Letter.self)
                try object.encode(1, forKey: .a)
                var array = encoder.unkeyedContainer()
                try array.encode(2)
            }
            _ = try RecordEncoder().encode(value)
        }
    }

    @Test("Two values in the same place crash, as in Foundation")
    func twoValues() async {
        await #expect(processExitsWith: .failure) {
            let value = Custom { encoder in
                var container = encoder.singleValueContainer()
                try container.encode(1)
                try container.encode(2)
            }
            _ = try RecordEncoder().encode(value)
        }
    }
    #endif

    @Test(
        "Nesting up to the limit yields JSON, and deeper nesting Foundation's error",
        arguments: [1, 510, 511, 512, 513]
    )
    func depth(count: Int) {
        expectSameBytes(Nest(depth: count, isArray: true, leaf: false))
        expectSameBytes(Nest(depth: count, isArray: false, leaf: false))
        expectSameBytes(Nest(depth: count, isArray: true, leaf: true))
        expectSameBytes(Nest(depth: count, isArray: false, leaf: true))
        expectSameBytes([["a": Nest(depth: count, isArray: true, leaf: true)]])
    }

    /// Expects that a value with only one possible encoding is encoded as Foundation encodes it.
    private func expectSameBytes(_ value: some Encodable, sourceLocation: SourceLocation = #_sourceLocation) {
        let results = [Result { try RecordEncoder().encode(value) }, Result { try JSONEncoder().encode(value) }]
        let texts = results.map { result in
            switch result {
            case .success(let data): String(decoding: data, as: UTF8.self)
            case .failure(let error): "\(error)"
            }
        }
        #expect(texts[0] == texts[1], sourceLocation: sourceLocation)
    }

    /// Expects that the encoder falls back to Foundation for a value.
    func expectLeftToFoundation(_ value: some Encodable, sourceLocation: SourceLocation = #_sourceLocation) {
        expectSameEncoding(value, by: .foundation, sourceLocation: sourceLocation)
    }

    @Test("An encoder or container that is used after its call changes nothing")
    func escaping() throws {
        // The results of our encoder and of Foundation's, alternately.
        final class Kept {
            var encoders: [any Encoder] = []
            var objects: [KeyedEncodingContainer<AnyKey>] = []
            var arrays: [any UnkeyedEncodingContainer] = []
            var singles: [any SingleValueEncodingContainer] = []
        }
        let kept = Kept()
        let keeping = Custom { encoder in
            var object = encoder.container(keyedBy: AnyKey.self)
            try object.encode(1, forKey: "a")
            var array = object.nestedUnkeyedContainer(forKey: "b")
            try array.encode(2)
            let superclass = object.superEncoder()
            try 3.encode(to: superclass)
            kept.encoders += [encoder, superclass]
            kept.objects.append(object)
            kept.arrays.append(array)
        }
        let keepingSingle = Custom { encoder in
            var single = encoder.singleValueContainer()
            try single.encode("x")
            kept.singles.append(single)
        }
        expectLeftToFoundation(keeping)
        expectLeftToFoundation([keepingSingle])
        let encoder = RecordEncoder()
        _ = encoder.encode(each: [keeping, keepingSingle, keeping])
        func use() throws {
            for encoder in kept.encoders { #expect(encoder.codingPath.count < 3 && encoder.userInfo.isEmpty) }
            for (index, var object) in kept.objects.enumerated() {
                let key = "\(index) \(UUID())"
                try object.encode(1, forKey: AnyKey(stringValue: key))
                try object.encode([1], forKey: AnyKey(stringValue: key + "x"))
                var nested = object.nestedContainer(keyedBy: Letter.self, forKey: AnyKey(stringValue: key + "y"))
                var array = nested.superEncoder().unkeyedContainer()
                try array.encodeNil()
            }
            for var array in kept.arrays {
                try array.encode(["x": 1])
                var inner = array.nestedUnkeyedContainer()
                let start = inner.count
                while inner.count < start + 3 { try inner.encode(1) }
                _ = array.superEncoder().codingPath
            }
            for single in kept.singles { #expect(single.codingPath.count < 3) }
        }
        // Neither while another value is encoded nor between two values.
        let using = Custom { encoder in
            var container = encoder.container(keyedBy: Letter.self)
            try container.encode(1, forKey: .a)
            try use()
            try container.encode(2, forKey: .b)
        }
        #expect(String(decoding: try encoder.encode(using), as: UTF8.self) == #"{"a":1,"b":2}"#)
        try use()
        #expect(String(decoding: try encoder.encode(["k": [1, 2]]), as: UTF8.self) == #"{"k":[1,2]}"#)
    }

    /// A value that encodes itself as an object.
    private func object(_ body: @escaping (inout KeyedEncodingContainer<Letter>) throws -> Void) -> Custom {
        Custom { encoder in
            var container = encoder.container(keyedBy: Letter.self)
            try body(&container)
        }
    }
}

/// Nested arrays or objects.
private struct Nest: Encodable {
    var depth: Int
    var isArray: Bool
    var leaf: Bool

    func encode(to encoder: any Encoder) throws {
        let inner = Nest(depth: depth - 1, isArray: isArray, leaf: leaf)
        if isArray {
            var container = encoder.unkeyedContainer()
            if depth > 1 { try container.encode(inner) } else if leaf { try container.encode(1) }
        } else {
            var container = encoder.container(keyedBy: Letter.self)
            if depth > 1 {
                try container.encode(inner, forKey: .a)
            } else if leaf {
                try container.encode(1, forKey: .a)
            }
        }
    }
}

extension Nest: CustomStringConvertible {
    var description: String { "Nest \(depth)" }
}
