import Testing

@testable import Bodega

@Suite struct SuspensionStateTests {

    @Test("The last request or withdrawal counts, however many there were")
    func requests() {
        var state = SuspensionState()
        #expect(state.next() == nil)
        for _ in 0..<3 { state.request(endingUses: true) }
        #expect(state.next() == .suspend)
        #expect(state.next() == nil)
        state.noteReleased()
        #expect(state.next() == nil)
        state.withdraw()
        #expect(state.next() == .resume)
        #expect(state.next() == nil)
        state.withdraw()
        #expect(state.next() == nil)
    }

    @Test("A withdrawal during a suspension takes effect after it")
    func withdrawal() {
        var state = SuspensionState()
        state.request(endingUses: true)
        #expect(state.next() == .suspend)
        state.withdraw()
        #expect(state.next() == nil)
        #expect(state.phase == .suspending)
        state.noteReleased()
        #expect(state.next() == .resume)
    }

    @Test("A suspension waits for the last use, and is interrupted by one")
    func uses() {
        var state = SuspensionState()
        let uses = (state.beginUse(), state.beginUse())
        state.request(endingUses: false)
        #expect(state.next() == nil)
        state.endUse(uses.0)
        #expect(state.next() == nil)
        state.endUse(uses.1)
        #expect(state.next() == .suspend)
        state.noteReleased()
        let later = state.beginUse()
        #expect(state.next() == .resume)
        state.endUse(later)
        #expect(state.next() == .suspend)
    }

    @Test("A request that ends uses does not count their ends again")
    func endedUses() {
        var state = SuspensionState()
        let use = state.beginUse()
        state.request(endingUses: true)
        #expect(state.next() == .suspend)
        state.noteReleased()
        let later = state.beginUse()
        state.endUse(use)
        #expect(state.next() == .resume)
        state.endUse(later)
        #expect(state.next() == .suspend)
    }
}
