import BodegaSync
import Foundation
import Testing

/// Items of many members and elements. In quadratic time, these would take hours.
@Suite struct LargeMergeTests {
    private static let size = 10_000

    /// An object, or an array, of a part for each number.
    private func json(_ brackets: String, _ numbers: some Sequence<Int>, _ part: (Int) -> String) -> Data {
        Data(("\(brackets.prefix(1))" + numbers.map(part).joined(separator: ",") + "\(brackets.suffix(1))").utf8)
    }

    /// Compares without a list of the differences, which would take minutes.
    private func expectSame(_ left: Data?, _ right: Data?, sourceLocation: SourceLocation = #_sourceLocation) {
        let isSame = left == right
        #expect(isSame, sourceLocation: sourceLocation)
    }

    @Test("All members of an object are merged, and all conflicts reported")
    func members() {
        func object(_ value: (Int) -> Int) -> Data { json("{}", 0..<Self.size) { #""m\#($0)":\#(value($0))"# } }
        let result = JSONMerge.merge(
            base: object { $0 }, local: object { $0.isMultiple(of: 2) ? -$0 - 1 : $0 },
            remote: object { $0.isMultiple(of: 3) ? $0 + 1 : $0 }, preferring: .local)
        let expected = object { $0.isMultiple(of: 2) ? -$0 - 1 : $0.isMultiple(of: 3) ? $0 + 1 : $0 }
        expectSame(result.data, expected)
        #expect(
            result.losses
                == stride(from: 0, to: Self.size, by: 6).map {
                    MergeLoss(path: "$['m\($0)']", lost: Data("\($0 + 1)".utf8), side: .remote)
                })
    }

    @Test("Unknown members stay in all elements of an array", arguments: ["id", "name"])
    func elements(name: String) {
        let numbers = Array(0..<Self.size)
        let stored = json("[]", numbers) { #"{"\#(name)":\#($0),"t":1,"u":\#($0)}"# }
        let known = json("[]", numbers.reversed()) { #"{"\#(name)":\#($0),"t":1}"# }
        let kept = numbers.filter { $0 % 5 > 0 }
        let new = json("[]", kept) { #"{"\#(name)":\#($0),"t":\#($0 % 2)}"# }
        let result = JSONMerge.preserving(new, known: known, stored: stored)
        expectSame(result, json("[]", kept) { #"{"\#(name)":\#($0),"t":\#($0 % 2),"u":\#($0)}"# })
    }

    @Test("Many equal elements, and elements without anything in common, are no harder")
    func equalElements() {
        let numbers = Array(0..<Self.size)
        let stored = json("[]", numbers) { #"{"t":\#($0 % 2),"u":\#($0)}"# }
        let known = json("[]", numbers) { #"{"t":\#($0 % 2)}"# }
        let result = JSONMerge.preserving(
            json("[]", numbers) { #"{"t":\#($0 + 2)}"# }, known: known, stored: stored)
        expectSame(result, json("[]", numbers) { #"{"t":\#($0 + 2),"u":\#($0)}"# })
        let sparse = json("[]", numbers) { #"{"m\#($0)":1,"u":\#($0)}"# }
        let removed = JSONMerge.preserving(
            json("[]", numbers.dropFirst()) { #"{"m\#($0)":1}"# }, known: json("[]", numbers) { #"{"m\#($0)":1}"# },
            stored: sparse)
        expectSame(removed, json("[]", numbers.dropFirst()) { #"{"m\#($0)":1,"u":\#($0)}"# })
    }
}
