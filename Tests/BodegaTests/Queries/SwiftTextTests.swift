import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

/// All scalars that `SwiftText` lists.
private let safeScalars = (0...0x10FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)
    .filter { SwiftText.isSafe(String($0)) }

private func composed(_ text: String) -> [Unicode.Scalar] {
    Array(text.precomposedStringWithCanonicalMapping.unicodeScalars)
}

private func decomposed(_ text: String) -> [Unicode.Scalar] {
    Array(text.decomposedStringWithCanonicalMapping.unicodeScalars)
}

@Suite("Texts whose equality in Swift is that of their scalars")
struct SwiftTextTests {

    @Test("consist of scalars that no normal form changes")
    func scalars() {
        #expect(safeScalars.count > 80_000)
        let marks = SwiftText.marks.unicodeScalars
        let unstable = safeScalars.filter { scalar in
            if composed(String(scalar)) != [scalar] { return true }
            let combiningClass = scalar.properties.canonicalCombiningClass.rawValue
            return combiningClass != 0 && !marks.contains(scalar) && !(0xE38...0xE3A).contains(scalar.value)
                && !(0xE48...0xE4B).contains(scalar.value)
        }
        #expect(unstable.isEmpty, "\(unstable.prefix(10))")
    }

    @Test("of common scripts are recognized by a small class")
    func commonScripts() {
        for scalar in SwiftText.commonRanges.joined().joined().compactMap(Unicode.Scalar.init) {
            #expect(SwiftText.isSafe(String(scalar)) && scalar.properties.canonicalCombiningClass.rawValue == 0)
        }
    }

    @Test("contain no scalar that joins the one before it")
    func composition() {
        // A pair becomes one scalar only if the scalar's decomposition ends with the second of the pair.
        let joining = Set(
            (0...0x10FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init).compactMap {
                scalar -> Unicode.Scalar? in
                let parts = decomposed(String(scalar))
                return parts.count > 1 ? parts.last : nil
            })
        #expect(joining.count > 100)
        let safe = joining.filter { SwiftText.isSafe(String($0)) }
        #expect(safe.isEmpty, "\(safe)")
    }

    @Test("stay as they are with marks in any order")
    func marks() {
        let marks = safeScalars.filter { $0.properties.canonicalCombiningClass.rawValue != 0 }
        #expect(!marks.isEmpty)
        for mark in marks {
            for base in safeScalars.prefix(2_000) + marks {
                let text = "a" + String(base) + String(mark) + "b"
                if SwiftText.isSafe(text) { #expect(composed(text) == Array(text.unicodeScalars), "\(text)") }
            }
            for other in marks { #expect(!SwiftText.isSafe(String(mark) + String(other))) }
        }
    }

    @Test("are compared by Swift as their scalars are")
    func comparison() {
        print("texts: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        for _ in 0..<20_000 {
            let texts = (0..<2).map { _ in
                (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    String(safeScalars.randomElement(using: &random)!)
                }.joined()
            }
            guard texts.allSatisfy(SwiftText.isSafe) else { continue }
            let (left, right) = (Array(texts[0].unicodeScalars), Array(texts[1].unicodeScalars))
            #expect((texts[0] == texts[1]) == (left == right), "\(texts)")
            #expect((texts[0] < texts[1]) == left.lexicographicallyPrecedes(right), "\(texts)")
        }
    }
}
