import Bodega
import Foundation

extension StorageEngineConformance.Check {

    static let reopening = [itemsSurviveReopening, keysSurviveReopening, datesSurviveReopening, orderSurvivesReopening]

    /// Items, including overwritten and removed ones, are unchanged when the engine is opened again.
    public static let itemsSurviveReopening = Self("items survive reopening", requires: .persistent) { examination in
        let large: Item = (
            examination.key("large"), patterned(min(1 << 20, examination.configuration.largestValue), seed: 1)
        )
        let expected: [Item] = [(examination.key("a"), bytes("new a")), (examination.key("c"), Data()), large]
        try await examination.session { engine in
            try await engine.write(examination.items("a", "b", "c"))
            try await engine.apply([
                examination.write("a", "new a"), examination.remove("b"),
                .write(key: examination.key("c"), data: Data()),
            ])
            try await engine.write(large.data, key: large.key)
        }
        try await examination.session { engine in
            try await examination.expectState(of: engine, expected, "after reopening")
            try await engine.removeAllData()
        }
        try await examination.session { engine in
            try await examination.expectState(of: engine, [], "after removing all and reopening")
        }
    }

    /// Keys of all kinds, including extreme ones, come back equal when the engine is opened again.
    public static let keysSurviveReopening = Self("keys survive reopening", requires: [.persistent, .exactKeys]) {
        examination in
        // A set, because some keys are in several lists of examples.
        var seen: Set<CacheKey> = []
        let extreme = KeyExamples.extreme(with: examination.configuration.keyTexts)
        let keys = (KeyExamples.kinds + KeyExamples.alike + KeyExamples.similar + extreme)
            .filter { seen.insert($0).inserted }
        let expected = keys.enumerated().map { ($1, bytes("\($0)")) }
        try await examination.session { engine in try await engine.write(expected) }
        try await examination.session { engine in
            try await examination.expectState(of: engine, expected, "after reopening")
            try await engine.remove(keys: Array(keys.dropFirst(3)))
        }
        try await examination.session { engine in
            try await examination.expectState(of: engine, Array(expected.prefix(3)), "after removing and reopening")
        }
    }

    /// Dates are the same, to the millisecond, in a reopened engine. Creation dates then still survive overwriting.
    public static let datesSurviveReopening = Self(
        "dates survive reopening to the millisecond", requires: [.persistent, .injectedClock]
    ) { examination in
        let start = examination.clock.current
        // Each millisecond of a second, because a floating-point number of seconds can't represent some of them.
        let milliseconds = Array(stride(from: 0, to: 1_000, by: 37))
        try await examination.session { engine in
            for millisecond in milliseconds {
                examination.clock.set(to: start + Double(millisecond) / 1_000)
                try await engine.write(examination.items("\(millisecond)"))
            }
        }
        examination.clock.advance(by: 3_600)
        let later = examination.clock.current
        try await examination.session { engine in
            for millisecond in milliseconds {
                let date = start + Double(millisecond) / 1_000
                await examination.expectDates(of: engine, "\(millisecond)", date, date, "after reopening")
                try await engine.write(examination.items("\(millisecond)"))
                await examination.expectDates(of: engine, "\(millisecond)", date, later, "after overwriting")
            }
        }
    }

    /// The order of the items is the same when the engine is opened again, and new items come last.
    public static let orderSurvivesReopening = Self("order survives reopening", requires: [.persistent, .ordered]) {
        examination in
        try await examination.session { engine in
            try await engine.write(examination.items("c", "a", "e", "b"))
            try await engine.remove(key: examination.key("a"))
            try await engine.write(examination.items("c", "a"))
        }
        try await examination.session { engine in
            try await examination.expectState(of: engine, examination.items("c", "e", "b", "a"), "after reopening")
            try await engine.remove(key: examination.key("a"))
        }
        try await examination.session { engine in
            try await engine.write(examination.items("0", "e", "a"))
            let expected = examination.items("c", "e", "b", "0", "a")
            try await examination.expectState(of: engine, expected, "after removing the last and reopening")
        }
        try await examination.session { engine in
            let expected = examination.items("c", "e", "b", "0", "a")
            try await examination.expectState(of: engine, expected, "after reopening once more")
        }
    }
}
