import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

/// What is known about conditions before an item is read.
@Suite struct ConditionTests {
    private let index = StorageIndex("text", isForText: true)

    private func condition(_ predicate: Predicate<TypedRecord>) -> QueryCondition {
        PredicateTranslation(indexes: [Index("text", \TypedRecord.text)], dates: nil).condition(of: predicate)
    }

    private func constant(_ predicate: Predicate<TypedRecord>) -> Bool? {
        if case .constant(let isMet) = condition(predicate) { isMet } else { nil }
    }

    @Test func `Parts about constants are evaluated once`() throws {
        let (empty, text, isDone, all) = ("", "a", false, true)
        #expect(constant(#Predicate { empty.isEmpty || $0.text == empty }) == true)
        #expect(constant(#Predicate { $0.text == text || text.count == 1 }) == true)
        #expect(constant(#Predicate { isDone && $0.text.contains(text) }) == false)
        #expect(constant(#Predicate { !(all || $0.int == 1) }) == false)
        #expect(constant(#Predicate { _ in isDone }) == false)
        #expect(constant(#Predicate { [].contains($0.text) }) == false)
        #expect(constant(#Predicate { $0.text.isEmpty }) == nil)
        let a = StorageSortKeyRanges(.text("a"))
        for predicate: Predicate<TypedRecord> in [
            #Predicate { text.isEmpty || $0.text == text }, #Predicate { $0.text == text && !isDone },
            #Predicate { !(isDone || $0.text != text) },
        ] {
            let narrowing = condition(predicate).narrowing(by: index.first)
            #expect(narrowing.certain == a)
            #expect(narrowing.possible.intersection(.values) == a)
        }
    }

    @Test func `Keys of numbers are possible for each match, and certain for matches only`() throws {
        let numbers = ModelSamples.integers + ModelSamples.reals + ModelSamples.hardNumbers
        let index = StorageIndex("a", isForText: false)
        let items = numbers.map { number in
            let text = Array("{\"a\":\(number)}".utf8)
            let key = text.withUnsafeBytes { StorageSortKey($0, index.first.query.find(in: $0, 0..<$0.count)) }
            return (number: number, text: text, key: key)
        }
        var certain = 0
        for literal in numbers {
            for comparison in ["==", "!=", "<", "<=", ">", ">="] {
                let filter = try JSONFilterParser.parse("@.a \(comparison) \(literal)")
                let keys = filter.condition.narrowing(by: index.first)
                for item in items {
                    let isMatch = item.text.withUnsafeBytes { filter.accepts($0, 0..<$0.count) }
                    #expect(!isMatch || keys.possible.contains(item.key), "\(item.number) \(comparison) \(literal)")
                    if !keys.certain.contains(item.key) { continue }
                    certain += 1
                    #expect(isMatch, "\(item.number) \(comparison) \(literal)")
                }
            }
        }
        #expect(certain > 5_000)
    }

    @Test func `Keys tell of most texts whether they start with another`() {
        print("condition tests: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        // Marks, joiners, prefixes, flags, syllables, line breaks, and texts of several scalars.
        let parts: [String] = [
            "a", "b", "\u{E9}", "e\u{301}", "\u{301}", "\r", "\n", "\r\n", "\u{200D}", "\u{1F468}", "\u{1F3FB}",
            "\u{A9}",
            "\u{1F1E9}", "\u{1F1EA}", "\u{1100}", "\u{1161}", "\u{AC00}", "\u{11A8}", "\u{915}", "\u{94D}", "\u{93F}",
            "\u{E01}", "\u{E33}", "\u{E38}", "\u{600}", "\u{FE0F}", "\u{4E00}", "\u{3042}", "\u{3099}", "\u{42F}",
            "\u{AD}",
        ]
        func text(_ count: Int) -> String {
            (0..<Int.random(in: 0...count, using: &random)).map { _ in parts.randomElement(using: &random)! }.joined()
        }
        var certain = 0
        for _ in 0..<40_000 {
            let start = text(2).precomposedStringWithCanonicalMapping
            let whole = (Bool.random(using: &random) ? start : "") + text(2)
            guard SwiftText.isSafe(whole) else { continue }
            let (key, keys) = (StorageSortKey.text(whole), SwiftText.starting(with: start))
            let doesStart = whole.starts(with: start)
            if keys.certain.contains(key) {
                certain += 1
                #expect(doesStart, "\(whole.debugDescription), \(start.debugDescription)")
            }
            if doesStart {
                #expect(keys.possible.contains(key), "\(whole.debugDescription), \(start.debugDescription)")
            }
        }
        #expect(certain > 4_000)
    }

    @Test func `All scalars that the ranges name begin a character`() {
        let starts = ["a", "\u{1F468}", "\u{1100}", "\u{AC00}", "\u{915}\u{94D}", "\u{1F1E9}", "\n", "\u{600}"].map {
            (text: $0, keys: SwiftText.starting(with: $0).certain)
        }
        var count = 0
        for scalar in (0...0xFFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init) {
            guard starts[0].keys.contains(.text("a\(scalar)")) else { continue }
            count += 1
            for (start, keys) in starts {
                let text = "\(start)\(scalar)"
                if !keys.contains(.text(text)) || !SwiftText.isSafe(text) || text.starts(with: start) { continue }
                Issue.record("\(text.debugDescription)")
            }
        }
        #expect(count > 30_000)
    }
}
