import Bodega
import BodegaTesting
import TestSupport
import Testing

@testable import Boutique

@Suite struct OrderedItemsTests {

    @Test("After any changes, every item has the same position as in a plain array")
    func model() {
        print("contents model: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        var contents = OrderedItems<Int>()
        var model: [(key: CacheKey, item: Int)] = []
        for step in 0..<3_000 {
            let key = CacheKey("\(Int.random(in: 0..<120, using: &random))")
            switch Int.random(in: 0..<100, using: &random) {
            case 0:
                contents.removeAll()
                model = []
            case 1..<30:
                let keys = [key] + model.shuffled(using: &random).prefix(.random(in: 0...5, using: &random)).map(\.key)
                let removed = contents.remove(keys)
                let expected = Set(keys).intersection(model.map(\.key))
                #expect(Set(removed.map(\.key)) == expected)
                #expect(removed.allSatisfy { removed in model.contains { $0 == removed } })
                model.removeAll { expected.contains($0.key) }
            default:
                let place = model.firstIndex { $0.key == key }
                #expect(contents.insert(step, under: key) == (place == nil))
                if let place { model[place].item = step } else { model.append((key, step)) }
            }
            #expect(contents.items == model.map(\.item))
            #expect(contents.keysInOrder == model.map(\.key))
            #expect(contents[key] == model.first { $0.key == key }?.item)
            #expect(contents.contains(key) == model.contains { $0.key == key })
        }
        for (key, item) in model { #expect(contents[key] == item) }
    }

    @Test("Keys that look alike but differ in their bytes are different")
    func likeness() {
        var contents = OrderedItems<Int>()
        contents.insert(1, under: CacheKey("\u{E9}"))
        contents.insert(2, under: CacheKey("e\u{301}"))
        #expect(contents.items == [1, 2])
    }
}
