import Foundation
import TestSupport
import Testing

@testable import Boutique

@Suite struct ValuePublicationTests {
    private typealias Snapshot = ValuePublication<Int>.Snapshot

    private let publication = ValuePublication<Int>()

    private func snapshot(_ value: Int) -> Snapshot { Snapshot(data: Data("\(value)".utf8), value: value) }

    @Test func `What one has come upon but not told yet is told by the next who comes upon it`() {
        #expect(!publication.show(snapshot(0)))
        #expect(publication.enqueue { snapshot(1) })
        #expect(publication.enqueue { snapshot(1) })
        #expect(publication.told == 0)
        publication.deliver()
        #expect(publication.told == 1)
        #expect(!publication.enqueue { snapshot(1) })
    }

    @Test func `An own change is left to who makes it`() {
        publication.enqueue(snapshot(1)) {}
        #expect(!publication.enqueue { snapshot(1) })
        #expect(publication.enqueue { snapshot(2) })
        publication.deliver()
        #expect(publication.told == 2)
    }
}
