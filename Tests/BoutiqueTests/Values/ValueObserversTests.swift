import Dispatch
import TestSupport
import Testing

@testable import Boutique

@Suite struct ValueObserversTests {

    private let observers = ValueObservers()

    @Test func `All observers of a value are called before the call that changes it returns`() {
        let seen = Record<String>()
        let observations = ["a", "a", "b"].map { name in observers.add(name) { _ in seen.add(name) } }
        observers.changing("a") { begin in
            begin()
            #expect(seen.elements == [])
        }
        #expect(seen.elements == ["a", "a"])
        withExtendedLifetime(observations) {}
    }

    @Test func `A check for foreign changes during a change is postponed until after it`() async {
        let (checks, continuation) = AsyncStream.makeStream(of: Bool.self)
        let observation = observers.add("a") { isCurrent in continuation.yield(isCurrent()) }
        let other = Record<Bool>()
        let otherObservation = observers.add("b") { isCurrent in other.add(isCurrent()) }
        observers.changing("a") { begin in
            begin()
            // The system reports this change, and one of another value.
            observers.checkForForeignChanges()
            #expect(other.elements == [true])
            continuation.yield(false)
        }
        // The calls by the writer, then the postponed check.
        #expect(await checks.prefix(3).reduce(into: []) { $0.append($1) } == [false, true, true])
        withExtendedLifetime((observation, otherObservation)) {}
    }

    @Test func `A check during which a change begins has no result and is repeated`() async {
        let (checks, continuation) = AsyncStream.makeStream(of: Bool.self)
        let isFirst = Locked(true)
        let observation = observers.add("a") { [observers] isCurrent in
            let isFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if isFirst { observers.changing("a") { begin in begin() } }
            continuation.yield(isCurrent())
        }
        observers.checkForForeignChanges("a")
        // The call by the writer, the check during which it changed the value, and another check.
        #expect(await checks.prefix(3).reduce(into: []) { $0.append($1) } == [true, false, true])
        withExtendedLifetime(observation) {}
    }

    @Test func `A failed change calls no observers`() {
        struct Failure: Error {}
        let seen = Record<Bool>()
        let observation = observers.add("a") { isCurrent in seen.add(isCurrent()) }
        #expect(throws: Failure.self) {
            try observers.changing("a") { begin in
                begin()
                throw Failure()
            }
        }
        #expect(seen.elements == [])
        observers.checkForForeignChanges("a")
        #expect(seen.elements == [true])
        withExtendedLifetime(observation) {}
    }

    @Test func `While a writer waits for exclusive access, checks for foreign changes run`() {
        let seen = Record<Bool>()
        let observation = observers.add("a") { isCurrent in seen.add(isCurrent()) }
        observers.changing("a") { begin in
            observers.checkForForeignChanges("a")
            #expect(seen.elements == [true])
            begin()
            observers.checkForForeignChanges("a")
            #expect(seen.elements == [true])
        }
        // The check and the call by the writer. The postponed check follows.
        #expect(seen.elements.prefix(2) == [true, true])
        withExtendedLifetime(observation) {}
    }

    @Test func `Several scheduled checks of a value are merged`() async {
        let (checks, continuation) = AsyncStream.makeStream(of: String.self)
        let observations = ["a", "b"].map { name in observers.add(name) { _ in continuation.yield(name) } }
        // The queue is blocked in the meantime.
        foreignChangeQueue.sync {
            for _ in 0..<10 { observers.scheduleCheck("a") }
            observers.scheduleCheck("b")
        }
        #expect(await checks.prefix(2).reduce(into: []) { $0.append($1) } == ["a", "b"])
        withExtendedLifetime(observations) {}
    }
}
