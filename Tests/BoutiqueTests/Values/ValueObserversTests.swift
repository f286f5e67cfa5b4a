import Dispatch
import TestSupport
import Testing

@testable import Boutique

@Suite(.timeLimit(.minutes(5))) struct ValueObserversTests {

    private let observers = ValueObservers()

    @Test func `A change is told to all observers of the value before the call that makes it returns`() {
        let seen = Record<String>()
        let observations = ["a", "a", "b"].map { name in observers.add(name) { _ in seen.add(name) } }
        observers.changing("a") { begin in
            begin()
            #expect(seen.elements == [])
        }
        #expect(seen.elements == ["a", "a"])
        withExtendedLifetime(observations) {}
    }

    @Test func `While a change is under way nobody looks for others, and afterwards somebody does`() async {
        let (looks, continuation) = AsyncStream.makeStream(of: Bool.self)
        let observation = observers.add("a") { counts in continuation.yield(counts()) }
        let other = Record<Bool>()
        let otherObservation = observers.add("b") { counts in other.add(counts()) }
        observers.changing("a") { begin in
            begin()
            // The system tells of the change that is being made, and of one of another value.
            observers.lookForOthers()
            #expect(other.elements == [true])
            continuation.yield(false)
        }
        // Those that the call told, and then the look that was left out.
        #expect(await looks.prefix(3).reduce(into: []) { $0.append($1) } == [false, true, true])
        withExtendedLifetime((observation, otherObservation)) {}
    }

    @Test func `What was read while a change began does not count, and is looked for again`() async {
        let (looks, continuation) = AsyncStream.makeStream(of: Bool.self)
        let isFirst = Locked(true)
        let observation = observers.add("a") { [observers] counts in
            let isFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if isFirst { observers.changing("a") { begin in begin() } }
            continuation.yield(counts())
        }
        observers.lookForOthers("a")
        // What the change told, the look during which it was made, and another look.
        #expect(await looks.prefix(3).reduce(into: []) { $0.append($1) } == [true, false, true])
        withExtendedLifetime(observation) {}
    }

    @Test func `A change that fails is told to nobody`() {
        struct Failure: Error {}
        let seen = Record<Bool>()
        let observation = observers.add("a") { counts in seen.add(counts()) }
        #expect(throws: Failure.self) {
            try observers.changing("a") { begin in
                begin()
                throw Failure()
            }
        }
        #expect(seen.elements == [])
        observers.lookForOthers("a")
        #expect(seen.elements == [true])
        withExtendedLifetime(observation) {}
    }

    @Test func `While a change waits for others, they are looked for`() {
        let seen = Record<Bool>()
        let observation = observers.add("a") { counts in seen.add(counts()) }
        observers.changing("a") { begin in
            observers.lookForOthers("a")
            #expect(seen.elements == [true])
            begin()
            observers.lookForOthers("a")
            #expect(seen.elements == [true])
        }
        // Those that the call told. The look that was left out follows.
        #expect(seen.elements.prefix(2) == [true, true])
        withExtendedLifetime(observation) {}
    }

    @Test func `Looks that are asked for many times are one`() async {
        let (looks, continuation) = AsyncStream.makeStream(of: String.self)
        let observations = ["a", "b"].map { name in observers.add(name) { _ in continuation.yield(name) } }
        // Nothing is done on the queue meanwhile.
        foreignChangeQueue.sync {
            for _ in 0..<10 { observers.planLook("a") }
            observers.planLook("b")
        }
        #expect(await looks.prefix(2).reduce(into: []) { $0.append($1) } == ["a", "b"])
        withExtendedLifetime(observations) {}
    }
}
