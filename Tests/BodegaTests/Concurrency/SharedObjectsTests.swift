import Foundation
import Testing

@testable import Bodega

@Suite struct SharedObjectsTests {

    private final class Thing: Sendable {}

    private let shared = SharedObjects<Int, Thing>()

    @Test func `A key has one object while it is in use, and a new one afterwards`() {
        var first: Thing? = shared.object(for: 1, orNew: Thing())
        let other = shared.object(for: 2, orNew: Thing())
        #expect(other !== first)
        #expect(shared.object(for: 1, orNew: Thing()) === first)
        let isReleased = { [weak first] in first == nil }
        first = nil
        #expect(isReleased())
        let new = Thing()
        #expect(shared.object(for: 1, orNew: new) === new)
        #expect(shared.object(for: 2, orNew: new) === other)
    }

    @Test func `Objects in use stay when the entries of released ones are removed`() {
        let kept = (0..<50).map { shared.object(for: $0, orNew: Thing()) }
        for key in 50..<5_000 { _ = shared.object(for: key, orNew: Thing()) }
        for (key, thing) in kept.enumerated() { #expect(shared.object(for: key, orNew: Thing()) === thing) }
        let count = shared.count
        #expect(count >= 50 && count <= 100)
    }
}
