import Bodega
import Foundation
import Observation
import TestSupport
import Testing

@testable import Boutique

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@Suite struct StoredValueObservationTests {
    let place = ValuePlace()

    @Test func `A publisher emits the current value and then each new one, including an equal one`() {
        let value = place.value(0)
        value.set(1)
        let seen = Record<Int>()
        let subscription = value.publisher.sink { seen.add($0) }
        #expect(seen.elements == [1])
        value.set(2)
        value.set(2)
        value.modify { $0 += 1 }
        #expect(seen.elements == [1, 2, 2, 3])
        subscription.cancel()
        value.set(4)
        #expect(seen.elements == [1, 2, 2, 3])
    }

    @Test func `Each subscriber starts with the current value`() {
        let value = place.value(0)
        let publisher = value.publisher
        let (early, late) = (Record<Int>(), Record<Int>())
        let first = publisher.sink { early.add($0) }
        value.set(1)
        let second = publisher.sink { late.add($0) }
        value.set(2)
        #expect(early.elements == [0, 1, 2])
        #expect(late.elements == [1, 2])
        first.cancel()
        second.cancel()
    }

    @Test func `Other wrappers of the key publish a change before the call that makes it returns`() {
        let (one, other) = (place.value(0), place.value(0))
        let seen = Record<Int>()
        let subscription = other.publisher.sink { seen.add($0) }
        one.set(1)
        #expect(seen.elements == [0, 1])
        one.set(2)
        other.set(3)
        #expect(seen.elements == [0, 1, 2, 3])
        subscription.cancel()
    }

    @Test func `A stream emits the current value and then each new one`() async {
        let value = place.value(0)
        var stream = value.values.makeAsyncIterator()
        #expect(await stream.next() == 0)
        value.set(1)
        value.set(2)
        #expect(await stream.next() == 1)
        #expect(await stream.next() == 2)
    }

    @Test func `A subscriber may read and change the value`() {
        let value = place.value(0)
        let seen = Record<Int>()
        let subscription = value.publisher.sink { number in
            seen.add(number)
            #expect(value.wrappedValue == number)
            if number < 3 { value.set(number + 1) }
        }
        #expect(seen.elements == [0, 1, 2, 3])
        subscription.cancel()
    }

    @Test func `The Observation framework is notified once of a change by any wrapper of the key`() {
        let (one, other) = (place.value(0), place.value(0))
        let unrelated = place.value("unrelated", 0)
        let changes = Record<String>()
        withObservationTracking {
            _ = one.wrappedValue
        } onChange: {
            changes.add("changed")
        }
        unrelated.set(1)
        #expect(changes.elements == [])
        other.set(1)
        other.set(2)
        #expect(changes.elements == ["changed"])
    }

    @Test func `Changes by many threads are published in the order in which they were made`() async {
        let value = place.value(0)
        let seen = Record<Int>()
        let subscription = value.publisher.sink { seen.add($0) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<50 { value.modify { $0 += 1 } } }
            }
        }
        // The thread that was publishing when the last change was made has published it before its own call returned.
        #expect(seen.elements == Array(0...200))
        subscription.cancel()
    }

    @Test func `A file event during a change does not publish it before its writer does`() {
        let place = ValuePlace(isWatched: false)
        let (one, other) = (place.value(0), place.value(0))
        let seen = Record<Int>()
        let first = one.publisher.dropFirst().sink { _ in
            // The file already has the change, but the writer has not notified other wrappers yet.
            place.file.observers.checkForForeignChanges()
            #expect(seen.elements == [0])
            #expect(other.wrappedValue == 1)
        }
        let second = other.publisher.sink { seen.add($0) }
        one.set(1)
        #expect(seen.elements == [0, 1])
        first.cancel()
        second.cancel()
    }

    @Test func `A subscription during a change leaves publishing to the writer`() {
        let place = ValuePlace(isWatched: false)
        let (one, other) = (place.value(0), place.value(0))
        let (seen, late) = (Record<Int>(), Record<Int>())
        let first = other.publisher.sink { seen.add($0) }
        var second: AnyCancellable?
        let third = one.publisher.dropFirst().sink { _ in
            second = other.publisher.sink { late.add($0) }
            #expect(seen.elements == [0])
        }
        one.set(1)
        #expect(seen.elements == [0, 1])
        #expect(late.elements == [0, 1])
        for subscription in [first, second, third] { subscription?.cancel() }
    }

    @Test func `An observer that has only read an absent value is notified of the first change`() {
        let place = ValuePlace(isWatched: false)
        let asked = ValueCore(key: "value", default: 0, storage: place.file)
        let reports = Record<String>()
        let isThere = withObservationTracking {
            (try? asked.value()) == 0
        } onChange: {
            reports.add("changed")
        }
        #expect(isThere)
        place.value(0).set(1)
        #expect(reports.elements == ["changed"])
    }

    @Test func `Each file of a folder is watched separately`() async {
        let folder = TemporaryFolder()
        let names = ["one.values", "other.values"]
        // A second object for a file acts like another process.
        func value(_ name: String) -> StoredValue<Int> {
            StoredValue(key: "value", default: 0, in: DefaultsFile(url: folder.file(name)))
        }
        for name in names {
            var stream = value(name).values.makeAsyncIterator()
            #expect(await stream.next() == 0)
            value(name).set(1)
            #expect(await stream.next() == 1)
        }
    }

    // MARK: Enclosing objects

    final class Settings: ObservableObject {
        let objectWillChange = ObservableObjectPublisher()
        @StoredValue var flag: Bool
        @StoredValue var list: [Int]

        init(_ place: ValuePlace) {
            _flag = place.value("flag", false)
            _list = place.value("list", [])
        }
    }

    @Test func `An observable object publishes its own and other changes before the publishers emit them`() {
        let settings = Settings(place)
        let changes = Record<String>()
        #expect(!settings.flag)
        let subscription = settings.objectWillChange.sink { changes.add("will change") }
        settings.flag = true
        #expect(settings.flag)
        #expect(changes.elements.count == 1)
        settings.$flag.toggle()
        #expect(changes.elements.count == 2)
        place.value("flag", false).set(true)
        #expect(changes.elements.count == 3)
        subscription.cancel()
    }

    @Test func `Each of several objects with one wrapper publishes its changes, also after one is deallocated`() {
        final class Switch: ObservableObject {
            let objectWillChange = ObservableObjectPublisher()
            @StoredValue var isOn: Bool
            init(_ value: StoredValue<Bool>) { _isOn = value }
        }
        let value = place.value(false)
        let changes = Record<String>()
        func makeSwitch(_ name: String) -> (Switch, AnyCancellable) {
            let made = Switch(value)
            #expect(!made.isOn)
            return (made, made.objectWillChange.sink { changes.add(name) })
        }
        let first = makeSwitch("first")
        _ = makeSwitch("deallocated")
        let second = makeSwitch("second")
        value.set(true)
        #expect(first.0.isOn && second.0.isOn)
        #expect(changes.elements.sorted() == ["first", "second"])
    }

    @Test func `Changes of a property that is only used by its projected value are published, too`() {
        let settings = Settings(place)
        let changes = Record<String>()
        let subscription = settings.objectWillChange.sink { changes.add("will change") }
        settings.$list.append(1)
        #expect(settings.list == [1])
        #expect(changes.elements.count == 1)
        subscription.cancel()
    }
}
